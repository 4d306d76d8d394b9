import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hostsOf } from "../../src/core/serve.js";

describe("the Host headers of a server", () => {
  it("are its own names only, where it listens on the loopback interface", () => {
    const own = hostsOf("127.0.0.1");
    for (const host of ["127.0.0.1:8000", "localhost:8000", "LOCALHOST", "[::1]:8000"]) assert.ok(own(host), host);
    for (const host of ["", "evil.example", "evil.example:8000", "10.0.0.1:8000", "localhost.evil.example", "a b"])
      assert.ok(!own(host), host);
  });

  it("are any address and the names given, where others can reach it", () => {
    const own = hostsOf("0.0.0.0", ["Forms.Example"]);
    for (const host of ["10.0.0.1:8000", "[fe80::1]:8000", "localhost:1", "forms.example:443"])
      assert.ok(own(host), host);
    for (const host of ["", "evil.example", "10.0.0.1.evil.example:8000"]) assert.ok(!own(host), host);
  });
});
