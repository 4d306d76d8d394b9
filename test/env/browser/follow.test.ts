import assert from "node:assert/strict";
import { test } from "node:test";
import { PageWorld } from "../../../src/env/browser/page/world.js";
import { type Answer, FORM, playForm, using } from "../page-site.js";

test("a refused page without scripts is looked at once, as its text stays; one with a handler is watched", async (t) => {
  // an element may have any name
  const form = FORM.replace("name=n", "name=n id=held");
  const pages = { "/plain": form, "/handled": form.replace("<form", `<form onsubmit="return true"`) };
  const answer: Answer = ({ method }, response) => {
    if (method === "GET") return false;
    response.writeHead(422, { "content-type": "application/json" }).end("{}");
    return true;
  };
  const run = t.mock.method(PageWorld.prototype, "run");
  await using(pages, { answer }, async (runner) => {
    const looks = async (path: string): Promise<number> => {
      run.mock.resetCalls();
      const episode = await playForm(runner, path);
      assert.deepEqual([episode.fault, episode.status, episode.posted], [undefined, 422, [["n", "Ann"]]]);
      return run.mock.calls.filter(({ arguments: [source] }) => source.startsWith("function readShown")).length;
    };
    assert.equal(await looks("/plain"), 1);
    assert.ok((await looks("/handled")) > 2);
  });
});
