import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import type { Cookie, Request } from "playwright";
import { messageOf } from "../../../core/errors.js";

/** Most bytes of an answer to a form. */
export const MOST_BYTES = 16 * 2 ** 20;

/** The error of an answer that ended half way. */
export class BrokenOff extends Error {}

/**
 * Forwards a page's request unchanged to its server, with the page's cookies, and follows no redirect.
 * The browser's own tools for this would read an answer of any length to its end.
 * @returns the whole answer, as it can be passed to a page.
 * @throws BrokenOff if the server has begun its answer, and has the request then; Error if there is no answer in time, or
 * one of more than MOST_BYTES.
 */
export async function bring(request: Request, cookies: readonly Cookie[], timeoutMs: number) {
  const url = new URL(request.url());
  const { "content-length": _, "accept-encoding": __, ...headers } = request.headers();
  const body = request.postDataBuffer();
  const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
  const outgoing = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
    method: request.method(),
    // the server may close an open connection just when it is used again
    agent: false,
    signal: timeout,
    headers: {
      ...headers,
      connection: "close",
      ...(cookies.length === 0 ? {} : { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; ") }),
      "content-length": body?.length ?? 0,
    },
  });
  // once a response has begun, its own events report errors
  outgoing.on("error", () => undefined);
  outgoing.end(body ?? undefined);
  let isBegun = false;
  try {
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    isBegun = true;
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) throw new Error(`an answer of more than ${MOST_BYTES / 2 ** 20} MB`);
      chunks.push(chunk);
    }
    const whole = decoded(Buffer.concat(chunks), response.headers["content-encoding"]);
    return { status: response.statusCode ?? 0, headers: plain(response.headers), body: whole };
  } catch (error) {
    const cause = timeout.aborted ? new Error(`none after ${timeoutMs / 1000} s`) : error;
    throw isBegun ? new BrokenOff(messageOf(cause), { cause }) : cause;
  }
}

/** Decompresses a body: some servers compress it without a request for that. */
function decoded(body: Buffer, encoding: string | undefined): Buffer {
  const options = { maxOutputLength: MOST_BYTES };
  switch (encoding?.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return gunzipSync(body, options);
    case "br":
      return brotliDecompressSync(body, options);
    case "deflate":
      return inflateSync(body, options);
    default:
      return body;
  }
}

/** Drops the headers of the connection and of the removed encoding; repeated headers are joined by line breaks. */
function plain(headers: IncomingHttpHeaders): Record<string, string> {
  const own = /^(?:connection|keep-alive|transfer-encoding|content-encoding|content-length)$/;
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || own.test(name) ? [] : [[name, Array.isArray(value) ? value.join("\n") : value]],
    ),
  );
}
