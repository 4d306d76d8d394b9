// npm pack: what is packed is compiled from the sources as they are.
import { build, checkNode, installPackages } from "./lib/setup.mjs";

checkNode();
installPackages();
build();
