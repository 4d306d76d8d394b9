// A site of your own: refusion-train flow-grpo --config FILE site.kind=./examples/site.mjs
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { defineSite } from "refusion-train";
import { z } from "zod";

const PAGE = `<!doctype html><title>Newsletter</title><form method="post" action="/newsletter">
<label>Full name <input name="who" required></label><label>Email <input name="mail" type="email" required></label>
<button>Subscribe</button></form>`;

/** One form on a server of its own: two labels, and what belongs into them. */
export const site = defineSite({
  schema: z.strictObject({}),
  async start() {
    const server = createServer((request, response) => {
      response.setHeader("content-type", "text/html");
      request.resume().on("end", () => response.end(request.method === "POST" ? "<p>Thank you" : PAGE));
    });
    await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
    const tasks = ["train", "val", "test", "heldout"].flatMap((split) =>
      ["Ann Lee", "Bo Diaz"].map((name, i) => ({
        id: `newsletter/${split}/${i}`,
        form: "newsletter",
        formTitle: "Newsletter",
        url: "/newsletter",
        instruction: "Subscribe to the newsletter.",
        fields: { "Full name": name, Email: `${name.split(" ")[0].toLowerCase()}@example.org` },
        success: { status: 200 },
        split,
        tier: "starter",
      })),
    );
    return {
      name: "newsletter",
      baseUrl: `http://127.0.0.1:${server.address().port}`,
      tasks: () => tasks,
      splitHash: () => createHash("sha256").update(JSON.stringify(tasks)).digest("hex"),
      stop: async () => void server.close(),
    };
  },
});
