import type { Place } from "./page/hands.js";
import { calm, leaveField } from "./page/hands.js";
import type { PageForm } from "./page/reader.js";
import type { PageHandle } from "./page/world.js";
import type { Session } from "./session.js";

/** Texts up to so many characters are typed key by key where pasting them does not do. */
const KEY_BY_KEY = 200;

/** A person's hands: real clicks and keys. */
export class Hands {
  constructor(
    readonly session: Session,
    readonly handle: PageHandle<PageForm>,
  ) {}

  /** Clicks at a place; where something covers it, the element is clicked by script. @returns whether there was such a place. */
  async click(place: Place | undefined, otherwise: () => Promise<void>, holding?: "Control"): Promise<boolean> {
    if (place === undefined) return false;
    if (!place.hit) await otherwise();
    else {
      if (holding !== undefined) await this.session.page.keyboard.down(holding);
      await this.session.page.mouse.click(place.x, place.y);
      if (holding !== undefined) await this.session.page.keyboard.up(holding);
    }
    return true;
  }

  /** Puts a text in at once, but for its last letter, which is a key as every other: scripts hear both. */
  async paste(text: string): Promise<void> {
    const { keyboard } = this.session.page;
    const letters = [...text];
    const last = letters.pop();
    if (last === undefined) return keyboard.press("Backspace");
    if (letters.length > 0) await keyboard.insertText(letters.join(""));
    await keyboard.type(last);
  }

  async type(text: string): Promise<void> {
    const { keyboard } = this.session.page;
    if (text.length > KEY_BY_KEY) return this.paste(text);
    await keyboard.type(text);
  }

  async press(key: string, times = 1): Promise<void> {
    for (let i = 0; i < times; i++) await this.session.page.keyboard.press(key);
  }

  async leave(): Promise<void> {
    await this.handle.evaluate(leaveField);
  }

  /** Lets the page react: until nothing has changed for a moment, by its own clock. */
  async calm(ms = 300, quietMs = 50): Promise<void> {
    await this.handle.evaluate(calm, { ms, quietMs });
  }
}
