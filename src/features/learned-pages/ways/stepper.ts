import { NoWay, type Way } from "../way.js";

/** Clicks the buttons beside a number until it equals the value; the first clicks show which button counts up. */
export const way: Way = {
  serves: ["number"],
  cost: 4,
  isLiteral: true,
  async operate(place, value) {
    const { box, limit } = place;
    const read = async (): Promise<number> => {
      const fields = box.locator("input,[role=spinbutton],output").locator("visible=true");
      const field = fields.first();
      const text = (await place.has(field))
        ? ((await field.getAttribute("aria-valuenow", limit)) ??
          (await field.inputValue(limit).catch(() => field.innerText(limit))))
        : await box.innerText(limit);
      return Number(/-?\d+(?:\.\d+)?/.exec(text)?.[0] ?? "0");
    };
    const buttons = await box.locator("button,[role=button]").locator("visible=true").all();
    let up: number | undefined;
    let down: number | undefined;
    for (const [i, button] of buttons.slice(0, 6).entries()) {
      const before = await read();
      if (before === Number(value)) return;
      await button.click(limit).catch(() => undefined);
      // a page may draw the number a moment later
      await place.pause(40);
      const after = await read();
      if (after > before) up = i;
      if (after < before) down = i;
    }
    for (let i = 0, nearest = Number.POSITIVE_INFINITY, still = 0; i < 200 && still < 4; i++) {
      const now = await read();
      if (now === Number(value)) return;
      const far = Math.abs(now - Number(value));
      still = far < nearest ? 0 : still + 1;
      nearest = Math.min(far, nearest);
      const which = now < Number(value) ? up : down;
      if (which === undefined) break;
      await buttons[which]?.click(limit);
      await place.pause(20);
    }
    throw new NoWay("the number is not reached");
  },
};
