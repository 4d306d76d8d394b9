import type { Redis, RedisOptions } from "ioredis";
import { fail, messageOf, misuse } from "../../../core/errors.js";
import { optional } from "../../../core/optional.js";
import { printable, withoutPasswords } from "../../../core/shown.js";
import { within } from "../../../core/within.js";
import { isReply } from "./protocol.js";

/** Address and credentials of Redis. Only `shown` may be printed, logged or written. */
export type RedisAddress = ReturnType<typeof redisAddress>;

/** Environment variable with the address for a worker without `--redis`. */
export const REDIS_VARIABLE = "REFUSION_REDIS_URL";
const PASSWORD_VARIABLE = "REFUSION_REDIS_PASSWORD";
const USERNAME_VARIABLE = "REFUSION_REDIS_USERNAME";
const ANSWER_MS = 10_000;

/**
 * Reads `redis://host:6379/0`, `rediss://...` (TLS) or `env:NAME`, an environment variable with such a URL. A password
 * comes from the environment only, because others can read command lines and configs.
 * @throws UserError (exit 2) if it is not such a URL, or holds a password; the message never shows one.
 */
export function redisAddress(setting: string, environment: Readonly<Record<string, string | undefined>> = process.env) {
  const variable = /^env:([A-Za-z_]\w*)$/.exec(setting)?.[1];
  const text = variable === undefined ? setting : environment[variable];
  if (text === undefined || text === "")
    misuse(`The environment variable ${variable} is not set; it should hold the URL of Redis.`, {
      hint: `export ${variable}=rediss://user:password@host:6379`,
    });
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^rediss?:$/.test(url.protocol) || url.hostname === "" || !/^(\/\d*)?$/.test(url.pathname))
    misuse(`${variable ?? "the address of Redis"} is no URL of Redis.`, {
      hint: "write redis://host:6379, rediss://host:6379 (TLS), or env:NAME",
    });
  if (variable === undefined && url.password !== "")
    misuse("The URL of Redis holds a password, which others can read where it stands.", {
      hint: `leave it out and set ${PASSWORD_VARIABLE}; or put the whole URL into ${REDIS_VARIABLE} and write env:${REDIS_VARIABLE}`,
    });
  const tls = url.protocol === "rediss:";
  const port = url.port === "" ? 6379 : Number(url.port);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const own = (value: string): string | undefined => (value === "" ? undefined : decodeURIComponent(value));
  return {
    /** `host:port`, or `host:port over TLS`. */
    shown: `${url.hostname}:${port}${tls ? " over TLS" : ""}`,
    host,
    port,
    db: Number(url.pathname.slice(1)),
    tls,
    username: own(url.username) ?? environment[USERNAME_VARIABLE],
    password: own(url.password) ?? environment[PASSWORD_VARIABLE],
  };
}

/** Formats an error for output: printable, and without the password. */
export const errorText = (error: unknown, address: RedisAddress): string =>
  printable(redact(messageOf(error), address));

/** Removes an address's password from a text: the client's errors may quote commands. */
export function redact(text: string, { password }: Pick<RedisAddress, "password">): string {
  const hidden = withoutPasswords(text);
  if (password === undefined || password === "") return hidden;
  return [password, encodeURIComponent(password)].reduce((out, secret) => out.replaceAll(secret, "***"), hidden);
}

/** Beginning of the message about a missing optional package. */
export const NEEDED = "Runs on several machines need";

/** Connections to one Redis, closed together. */
export interface Connections {
  /** Opens a separate connection: a blocking wait for a job must not delay other commands. */
  connect(): Redis;
  close(): void;
}

/**
 * Tests the connection to Redis, and returns a factory of connections.
 * @param onTrouble is called when a connection is lost, and when it is restored; reconnecting is automatic.
 * @param answerMs how long the first answer may take, in milliseconds.
 * @throws UserError if Redis does not answer or refuses the login.
 */
export async function openConnections(
  address: RedisAddress,
  onTrouble: (text: string) => void,
  answerMs = ANSWER_MS,
): Promise<Connections> {
  const { Redis: kind } = await optional(NEEDED, "ioredis", () => import("ioredis"));
  const { shown, host, port, db, tls, username, password } = address;
  const make = (options: Pick<RedisOptions, "lazyConnect" | "retryStrategy" | "connectTimeout">): Redis =>
    new kind({
      host,
      port,
      db,
      ...(tls && { tls: { servername: host } }),
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      // a command waits until Redis is back
      maxRetriesPerRequest: null,
      ...options,
    });
  const probe = make({ lazyConnect: true, retryStrategy: () => null, connectTimeout: answerMs });
  let last: unknown;
  probe.on("error", (error: unknown) => {
    last = error;
  });
  try {
    const answer = probe.connect().then(() => probe.ping());
    // a connection may be taken by a server that never writes
    if (!(await within(answer, answerMs))) throw new Error(`no answer in ${answerMs / 1000} s`);
    await answer;
  } catch (error) {
    const text = redact(messageOf(last ?? error) || "no answer", address);
    fail(`Redis at ${shown} cannot be used: ${text}`, {
      hint: isReply(last ?? error, "NOAUTH", "WRONGPASS", "NOPERM")
        ? `set ${PASSWORD_VARIABLE} (and ${USERNAME_VARIABLE})`
        : "start Redis, or correct the address; docs/cluster.md",
    });
  } finally {
    probe.disconnect();
  }
  const open: Redis[] = [];
  return {
    connect() {
      const redis = make({ retryStrategy: (times) => Math.min(100 * times, 2000) });
      open.push(redis);
      let lost = false;
      redis.on("error", (error: unknown) => {
        if (!lost) onTrouble(`Redis at ${shown}: ${redact(messageOf(error), address)}; trying on`);
        lost = true;
      });
      redis.on("ready", () => {
        if (lost) onTrouble(`Redis at ${shown} is back`);
        lost = false;
      });
      return redis;
    },
    close() {
      for (const redis of open.splice(0)) redis.disconnect();
    },
  };
}
