import { click, of, pick, type, write } from "../hand.js";
import { byFlag, byStatus, type ComponentPage, day, MAILS, NAMES, people } from "../page.js";

/** Writes 14:30 as a clock of twelve hours takes it by keys: `0230PM`. */
function noonClock(time: string): string {
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${two(hour % 12 || 12)}${two(minute)}${hour < 12 ? "AM" : "PM"}`;
}

export const pages: ComponentPage[] = [
  {
    id: "react/mui-portrait",
    title: "Book a photo session",
    libraries: ["@mui/material", "@mui/x-date-pickers", "react-hook-form", "yup"],
    people: people({
      "Your name": NAMES,
      Email: MAILS,
      Session: ["Business portrait", "Newborn", "Family portrait"],
      Date: ["2027-01-15", "2027-02-09", "2027-03-23"],
      Time: ["14:30", "09:15", "17:45"],
      Extras: [["Photo album"], ["Retouching", "Prints"], ["Retouching", "Wooden frame", "Make-up"]],
      Location: ["Outdoors", "At your home", "Studio"],
      "You may show my pictures": [true, false, true],
    }),
    wire: {
      "Your name": "name",
      Email: "email",
      Session: [
        "session",
        {
          "Family portrait": "family",
          Newborn: "newborn",
          "Business portrait": "business",
          "Passport photo": "passport",
        },
      ],
      Date: "date",
      Time: "time",
      Extras: "extras",
      Location: ["place", { Studio: "studio", Outdoors: "outdoors", "At your home": "home" }],
      "You may show my pictures": "publish",
    },
    required: ["Your name", "Email", "Session", "Date"],
    answer: byStatus({ booking: 2718 }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Your name", "Email");
      await pick(page, page.getByRole("combobox", { name: "Session" }), p.text("Session"));
      await type(page, page.getByRole("spinbutton", { name: "Month" }), day(p.text("Date"), "MMDDYYYY"));
      await type(page, page.getByRole("spinbutton", { name: "Hours" }), noonClock(p.text("Time")));
      for (const extra of p.list("Extras")) await pick(page, page.getByLabel("Extras", { exact: true }), extra);
      await page.getByLabel(p.text("Location"), { exact: true }).check();
      await click(person, "You may show my pictures", page.getByLabel("You may show my pictures"));
    },
    send: "Book session",
  },
  {
    id: "react/antd-warranty",
    title: "Warranty claim",
    libraries: ["antd"],
    people: people({
      Customer: NAMES,
      Product: ["Toaster Duo", "Hand mixer Whirl", "Kettle Swift"],
      "Date of purchase": ["2026-08-21", "2025-12-03", "2026-02-14"],
      "Price paid": [49.9, 129, 34.5],
      "What is wrong?": [["Leaks"], ["Too loud", "Broken part"], ["Does not start", "Leaks", "Broken part"]],
      "You would like": ["Refund", "Repair", "Replacement"],
      Description: ["Water comes out below", "It rattles a lot", "The switch came off"],
      "I still have the box": [true, false, true],
    }),
    wire: {
      Customer: "customer",
      Product: [
        "product",
        {
          "Coffee machine Aroma 2": 1001,
          "Kettle Swift": 1002,
          "Toaster Duo": 1003,
          "Blender Max": 1004,
          "Hand mixer Whirl": 1005,
        },
      ],
      "Date of purchase": "bought",
      "Price paid": "price",
      "What is wrong?": "faults",
      "You would like": ["wish", { Repair: "repair", Replacement: "replace", Refund: "refund" }],
      Description: "description",
      "I still have the box": "packed",
    },
    required: ["Customer", "Product", "Date of purchase"],
    answer: byFlag({ success: true }, { success: false, message: "Please fill in all required fields" }),
    async fill(page, person) {
      const p = of(person);
      await write(page, person, "Customer");
      await page.getByLabel("Product", { exact: true }).click();
      await page
        .locator(".ant-select-item-option")
        .filter({ hasText: p.text("Product") })
        .click();
      await type(page, page.getByLabel("Date of purchase"), p.text("Date of purchase"));
      await page.locator(`td[title="${p.text("Date of purchase")}"]`).click();
      await page.getByLabel("Price paid").fill(p.text("Price paid"));
      for (const fault of p.list("What is wrong?")) await page.getByLabel(fault, { exact: true }).check();
      await page.getByLabel(p.text("You would like"), { exact: true }).check();
      await write(page, person, "Description");
      await click(person, "I still have the box", page.getByRole("switch"));
    },
    send: "Send claim",
  },
];
