import { createHash } from "node:crypto";
import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { messageOf, UserError } from "../../core/errors.js";

/** A job as Ray's Jobs API takes it. */
export interface RayJob {
  readonly entrypoint: string;
  readonly submission_id: string;
  readonly runtime_env: { readonly working_dir?: string; readonly env_vars?: Readonly<Record<string, string>> };
  readonly entrypoint_num_cpus?: number;
  readonly entrypoint_num_gpus?: number;
  /** Bytes. */
  readonly entrypoint_memory?: number;
}

const infoSchema = z.object({
  status: z.enum(["PENDING", "RUNNING", "STOPPED", "SUCCEEDED", "FAILED"]),
  message: z.string().nullish(),
});
export type RayStatus = z.infer<typeof infoSchema>;

/** How long a head that does not answer is asked again. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 1000;

/**
 * Ray's Jobs REST API (https://docs.ray.io/en/latest/cluster/running-applications/job-submission/rest.html) of a head node.
 * `RAY_JOB_HEADERS` (JSON) holds further headers, as for Ray's own client.
 */
export class RayJobs {
  constructor(
    readonly url: string,
    private readonly headers: Readonly<Record<string, string>> = headersOf(process.env.RAY_JOB_HEADERS),
    private readonly sent: Send = send,
  ) {}

  /** Uploads a working directory; equal archives once. @returns its URI. */
  async upload(archive: Uint8Array): Promise<string> {
    const name = `_ray_pkg_${createHash("sha256").update(archive).digest("hex").slice(0, 16)}.zip`;
    const path = `/api/packages/gcs/${name}`;
    const there = await this.request("GET", path, undefined, [404]);
    if (there.status === 404) await this.request("PUT", path, Buffer.from(archive));
    return `gcs://${name}`;
  }

  async submit(job: RayJob): Promise<void> {
    await this.request("POST", "/api/jobs/", JSON.stringify(job));
  }

  async status(id: string): Promise<RayStatus> {
    return infoSchema.parse(await (await this.request("GET", `/api/jobs/${encodeURIComponent(id)}`)).json());
  }

  /** All that it has printed so far. */
  async logs(id: string): Promise<string> {
    const answer = await this.request("GET", `/api/jobs/${encodeURIComponent(id)}/logs`);
    return String(((await answer.json()) as { logs?: unknown }).logs ?? "");
  }

  async stop(id: string): Promise<void> {
    await this.request("POST", `/api/jobs/${encodeURIComponent(id)}/stop`);
  }

  private async request(
    method: string,
    path: string,
    body?: string | Buffer,
    allowed: readonly number[] = [],
  ): Promise<Response> {
    const type = typeof body === "string" ? { "content-type": "application/json" } : {};
    const began = performance.now();
    for (;;) {
      let answer: Response;
      try {
        answer = await this.sent(new URL(path, this.url), { method, headers: { ...type, ...this.headers }, body });
      } catch (error) {
        // a job that was taken must not be submitted twice
        if (method === "GET" && performance.now() - began < PATIENCE_MS) {
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
          continue;
        }
        const cause = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
        throw new UserError(`Ray at ${this.url} does not answer: ${cause}`, {
          hint: "give the address of the head's dashboard, as http://127.0.0.1:8265",
        });
      }
      if (answer.ok || allowed.includes(answer.status)) return answer;
      const text = (await answer.text()).trim().split("\n").at(-1) ?? "";
      throw new UserError(`Ray at ${this.url} refused ${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    }
  }
}

/** Sends one request. */
export type Send = (
  url: URL,
  of: { method: string; headers: Readonly<Record<string, string>>; body: string | Buffer | undefined },
) => Promise<Response>;

/** `fetch` says `Sec-Fetch-Mode`, by which Ray knows browsers, which may change nothing: this request is plain. */
const send: Send = async (url, { method, headers, body }) => {
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const length = bytes === undefined ? {} : { "content-length": bytes.length };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const over = url.protocol === "https:" ? overHttps : overHttp;
    over(url, { method, headers: { ...headers, ...length } }, resolve)
      .on("error", reject)
      .end(bytes);
  });
  return new Response(new Uint8Array(await buffer(answer)), { status: answer.statusCode ?? 500 });
};

function headersOf(text: string | undefined): Record<string, string> {
  if (text === undefined || text === "") return {};
  try {
    return z.record(z.string(), z.string()).parse(JSON.parse(text));
  } catch {
    throw new UserError("RAY_JOB_HEADERS is no JSON object of texts.", { exitCode: 2 });
  }
}
