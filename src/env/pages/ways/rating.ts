import { clickLabel, NoWay, type Way } from "../way.js";

/** Clicks the star, dot or cell whose place is the number. */
export const way: Way = {
  serves: ["number"],
  oddness: 4,
  signs: "[role=radio],input[type=radio],[class*=rate i],[class*=rating i],[class*=star i]",
  variants: ["radio", "button", "svg", "item", "share"],
  async operate(place, value) {
    const { box } = place;
    const n = Number(value);
    const name = new RegExp(`^\\D*${n}(?!\\d)\\D*$`);
    if (place.variant === "share") {
      const area = await place.control.boundingBox();
      if (area === null) throw new NoWay("not seen");
      return place.page.mouse.click(area.x + ((n - 0.5) / 5) * area.width, area.y + area.height / 2);
    }
    const all =
      place.variant === "radio"
        ? box.getByRole("radio", { includeHidden: true })
        : place.variant === "button"
          ? box.locator("button,[role=button]")
          : box.locator(place.variant === "svg" ? "svg" : "li,span,i,label");
    const named = all.and(box.getByRole("radio", { name, includeHidden: true }).or(box.getByRole("button", { name })));
    const target = (await place.has(named)) ? named.first() : all.nth(n - 1);
    if (!(await place.has(target))) throw new NoWay("no stars");
    await clickLabel(place, target);
  },
};
