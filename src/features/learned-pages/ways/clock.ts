import { parseTime } from "../../../env/forms/normalize.js";
import { writeTime } from "../../../env/forms/values.js";
import { confirmed, NoWay, opened, type Way } from "../way.js";

/** Time in which a clock's face changes from hours to minutes, in milliseconds. */
const TURN_MS = 400;

/** Opens a clock's face and clicks the hour, the minute and the half of the day. */
export const way: Way = {
  serves: ["time"],
  cost: 4.45,
  isLiteral: true,
  variants: [
    ...[{ time: "H:mm" }, { time: "h:mm:A" }],
    ...[
      { time: "H:mm", confirm: true as const },
      { time: "h:mm:A", confirm: true as const },
    ],
  ],
  async operate(place, value) {
    const { time: pattern = "", confirm } = place.variant;
    const time = parseTime(value);
    if (time === undefined) throw new NoWay("no time");
    const open = (): Promise<void> => opened(place, place.control, TURN_MS);
    const choose = async (): Promise<void> => {
      for (const part of writeTime(time, pattern).split(":")) {
        await place.pick(part);
        await place.pause(TURN_MS);
      }
    };
    if (confirm) return confirmed(place, open, choose);
    await open();
    await choose();
  },
};
