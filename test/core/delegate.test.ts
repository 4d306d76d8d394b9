import assert from "node:assert/strict";
import { test } from "node:test";
import { delegate } from "../../src/core/delegate.js";

class Site {
  #open = 0;
  started = false;
  readonly tasks = ["a", "b"];
  play(): number {
    this.started = true;
    return ++this.#open;
  }
  close(): number {
    return this.#open;
  }
}

test("what is opened through a delegate is closed by the original, and members replaced are its own", () => {
  const site = new Site();
  const some = delegate(delegate(site, { tasks: ["a"] }), { started: false });
  assert.deepEqual(some.tasks, ["a"]);
  assert.equal(some.play(), 1);
  assert.equal(some.started, false);
  assert.deepEqual([site.started, site.close(), site.tasks.length], [true, 1, 2]);
  assert.ok("close" in some && !("other" in some));
});

test("an object that is frozen can have members replaced", () => {
  assert.equal(delegate<{ a: number }>(Object.freeze({ a: 1 }), { a: 3 }).a, 3);
});
