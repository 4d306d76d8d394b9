import { createRoot } from "react-dom/client";

/** Puts the page's component into its place, and the address that it sends to in `SEND`. */
export const start = (App) => createRoot(document.getElementById("app")).render(<App />);
export const SEND = `${location.pathname}/send`;
export const json = (method, body) => ({
  method,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
