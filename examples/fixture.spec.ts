// A test of your site whose forms a trained policy fills: npx playwright test examples/fixture.spec.ts
import { createServer } from "node:http";
import { expect, test } from "refusion-train/fixture";

// in place of your site: it shows a form, and says what it was sent
const server = createServer(async (request, response) => {
  let sent = "";
  for await (const part of request) sent += part;
  response.setHeader("content-type", "text/html").end(
    request.method === "POST"
      ? `<p id=sent>${new URLSearchParams(sent)}</p>`
      : `<title>Archive Visit</title><form method=post><label>Guest Name <input name=guest></label>
         <label>Room <select name=room><option>Hall<option>Attic</select></label><button>Book</button></form>`,
  );
});

test.use({
  agentFrom: { model: "models/tiny-refusion-template" }, // or { run: "runs/letters-flow-grpo" }
  launchOptions: process.env.REFUSION_BROWSER ? { executablePath: process.env.REFUSION_BROWSER } : {},
});
test.beforeAll(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)));
test.afterAll(() => server.close());

test("a visit is booked", async ({ page, agent }) => {
  const address = server.address();
  await page.goto(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`);

  const { fields } = await agent.fill(page, { "Guest Name": "Ines Meyer", Room: "Attic" });
  expect(fields.filter(({ fault }) => fault !== undefined)).toEqual([]);

  await page.getByRole("button", { name: "Book" }).click();
  await expect(page.locator("#sent")).toHaveText("guest=Ines+Meyer&room=Attic");
});
