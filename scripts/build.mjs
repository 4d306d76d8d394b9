// npm run build: compiles src and test to dist and removes compiled files whose source is gone.
import { build } from "./lib/setup.mjs";

build();
