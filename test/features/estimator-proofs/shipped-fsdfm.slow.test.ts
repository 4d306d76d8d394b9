import { proveShipped } from "./shipped.js";

await proveShipped("tiny-fsdfm");
