import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import type { BrowserContext, Request } from "playwright";

/** An answer of more bytes is no answer to a form. */
export const MOST_BYTES = 16 * 2 ** 20;

/** A whole answer, as a page can be given it. */
export interface Brought {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/**
 * Brings a page's request to its server as it is, with the cookies that the page's context has for it, and follows no
 * redirect. What the browser's own tools offer for it reads an answer to its end, however long it is.
 * @throws Error where there is no answer in time, or one of more than MOST_BYTES.
 */
export async function bring(request: Request, context: BrowserContext, timeoutMs: number): Promise<Brought> {
  const url = new URL(request.url());
  const cookies = await context.cookies(url.href);
  const { "content-length": _, "accept-encoding": __, ...headers } = request.headers();
  const body = request.postDataBuffer();
  return new Promise((resolve, reject) => {
    const outgoing = (url.protocol === "https:" ? httpsRequest : httpRequest)(
      url,
      {
        method: request.method(),
        // a connection that is kept open may be closed by the server in the moment in which it is used again
        agent: false,
        headers: {
          ...headers,
          connection: "close",
          ...(cookies.length === 0 ? {} : { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; ") }),
          ...(body === null ? { "content-length": 0 } : { "content-length": body.length }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MOST_BYTES) outgoing.destroy(new Error(`an answer of more than ${MOST_BYTES / 2 ** 20} MB`));
          else chunks.push(chunk);
        });
        response.on("error", reject);
        response.on("end", () => {
          clearTimeout(timer);
          try {
            const whole = decoded(Buffer.concat(chunks), response.headers["content-encoding"]);
            resolve({ status: response.statusCode ?? 0, headers: plain(response.headers), body: whole });
          } catch (error) {
            reject(error);
          }
        });
      },
    );
    const timer = setTimeout(() => outgoing.destroy(new Error(`none after ${timeoutMs / 1000} s`)), timeoutMs);
    outgoing.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    outgoing.end(body ?? undefined);
  });
}

/** Some servers compress what nobody asked them to. */
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

/** Headers without those of the connection and of a coding that has been taken off; several of one name by lines. */
function plain(headers: IncomingHttpHeaders): Record<string, string> {
  const own = /^(?:connection|keep-alive|transfer-encoding|content-encoding|content-length)$/;
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || own.test(name) ? [] : [[name, Array.isArray(value) ? value.join("\n") : value]],
    ),
  );
}
