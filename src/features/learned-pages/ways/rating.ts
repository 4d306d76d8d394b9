import { clickLabel, NoWay, type Way } from "../way.js";

/** Runs IN THE PAGE: finds the centre of the n-th element in a row of equal elements, such as stars. */
function nthOfRow(box: Element, n: number): [number, number] | undefined {
  const rectOf = (e: Element): DOMRect => e.getBoundingClientRect();
  const rowOf = (parent: Element | ShadowRoot): Element[] => {
    const seen = [...parent.children].filter((e) => rectOf(e).width > 4 && rectOf(e).height > 4);
    return seen.filter((e) => {
      const [a, b] = [rectOf(e), rectOf(seen[seen.length - 1] as Element)];
      return e.localName === seen.at(-1)?.localName && Math.abs(a.y - b.y) < 6 && Math.abs(a.width - b.width) < 6;
    });
  };
  const open: (Element | ShadowRoot)[] = [box];
  for (const node of open) {
    const row = rowOf(node);
    if (row.length > 2 && row.length >= n) {
      const { x, y, width, height } = rectOf(row[n - 1] as Element);
      return [x + width / 2, y + height / 2];
    }
    if (node instanceof Element && node.shadowRoot !== null) open.push(node.shadowRoot);
    open.push(...node.children);
  }
  return undefined;
}

/** Clicks the star, dot or cell whose position equals the number. */
export const way: Way = {
  serves: ["number"],
  cost: 4,
  signs: "[role=radio],input[type=radio],[class*=rate i],[class*=rating i],[class*=star i]",
  variants: ["radio", "button", "row", "share"].map((by) => ({ by })),
  async operate(place, value) {
    const { box, page, variant } = place;
    const n = Number(value);
    const name = new RegExp(`^\\D*${n}(?!\\d)\\D*$`);
    if (variant.by === "row" || variant.by === "share") {
      const area = variant.by === "share" ? await place.control.boundingBox() : null;
      const at =
        area === null
          ? await box.evaluate(nthOfRow, n, place.limit)
          : ([area.x + ((n - 0.5) / 5) * area.width, area.y + area.height / 2] as const);
      if (at === undefined) throw new NoWay("no stars");
      // stars that follow the pointer are redrawn before the click
      await page.mouse.move(...at);
      await place.pause(0);
      return page.mouse.click(...at);
    }
    const all =
      variant.by === "radio" ? box.getByRole("radio", { includeHidden: true }) : box.locator("button,[role=button]");
    const named = all.and(box.getByRole("radio", { name, includeHidden: true }).or(box.getByRole("button", { name })));
    const target = (await place.has(named)) ? named.first() : all.nth(n - 1);
    if (!(await place.has(target))) throw new NoWay("no stars");
    await clickLabel(place, target);
  },
};
