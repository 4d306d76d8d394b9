// npm run build: compiles src and test to dist, without what a source that is gone left there.
import { build } from "./lib/setup.mjs";

build();
