import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, it } from "node:test";
import { UserError } from "../../../src/core/errors.js";
import { openConnections, redact, redisAddress } from "../../../src/features/cluster/queue/connection.js";
import { userError } from "../../support/user-error.js";

describe("where Redis is", () => {
  it("is read from a URL, or from the variable that it names", () => {
    const nobody = { username: undefined, password: undefined };
    const plain = { shown: "10.0.0.7:6379", host: "10.0.0.7", port: 6379, db: 0, tls: false, ...nobody };
    assert.deepEqual(redisAddress("redis://10.0.0.7", {}), plain);
    const me = { username: "me", password: "p@ss" };
    const given = { shown: "[::1]:7000 over TLS", host: "::1", port: 7000, db: 3, tls: true, ...me };
    assert.deepEqual(redisAddress("env:WHERE", { WHERE: "rediss://me:p%40ss@[::1]:7000/3" }), given);
    const apart = redisAddress("redis://h", { REFUSION_REDIS_PASSWORD: "x", REFUSION_REDIS_USERNAME: "y" });
    assert.deepEqual([apart.username, apart.password], ["y", "x"]);
  });

  it("is refused with a password in sight, and where it is no such URL, without showing it", () => {
    for (const wrong of ["redis://:geheim@h", "h:6379", "http://h", "redis://", "redis://h/x", "redis://a:geheim@ h"])
      assert.throws(
        () => redisAddress(wrong, {}),
        (error) => error instanceof UserError && error.exitCode === 2 && !/geheim/.test(error.message + error.hint),
        wrong,
      );
    assert.throws(() => redisAddress("env:NOT_SET", {}), /NOT_SET is not set/);
  });

  it("shows no password in what a client says", () => {
    const address = redisAddress("env:U", { U: "redis://u:p%40ss@h" });
    assert.equal(redact("AUTH p@ss failed at redis://u:p%40ss@h:1", address), "AUTH *** failed at redis://***@h:1");
    assert.equal(redact("nothing to hide", { password: undefined }), "nothing to hide");
  });

  it("is refused where a server takes the connection and never answers", async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const address = redisAddress(`redis://127.0.0.1:${(silent.address() as AddressInfo).port}`, {});
    await assert.rejects(
      openConnections(address, () => undefined, 200),
      userError(/Redis at 127\.0\.0\.1:\d+ cannot be used: no answer in 0\.2 s/, { hint: /start Redis/ }),
    );
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});
