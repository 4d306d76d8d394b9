import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { ListFileEntry } from "@huggingface/hub";
import { closing } from "../../../core/closing.js";
import { fail, misuse, UserError } from "../../../core/errors.js";
import { sha256File } from "../../../core/files.js";
import type { CheckpointSource, SourceOptions } from "../../export/checkpoint-source.js";
import { type HubAccess, hubMessage, isRepoName, openHub } from "../access.js";

/** A checkpoint on the Hugging Face Hub: `hf:org/name` or `hf:org/name@revision`, optionally with `:file.gguf`. */
export interface HubSource {
  readonly repo: string;
  readonly revision: string;
  /** A single file; absent: all files of a checkpoint. */
  readonly file: string | undefined;
}

export const HUB_PREFIX = "hf:";

/** Reads `hf:org/name`, optionally with `@revision` and `:file.gguf`. @throws UserError for another spelling. */
export function parseHubSource(source: string): HubSource {
  const [, repo, revision, file] = /^hf:([\w.-]+\/[\w.-]+)(?:@([^:]+))?(?::(.+))?$/.exec(source) ?? [];
  if (repo === undefined || !isRepoName(repo))
    misuse(`"${source}" names no model of the Hub.`, {
      hint: "write hf:org/name, hf:org/name@revision or hf:org/name:file.gguf",
    });
  return { repo, revision: revision ?? "main", file };
}

/** Files of a checkpoint that `export` reads. */
const WANTED =
  /^(config|generation_config|tokenizer|tokenizer_config|vocab|added_tokens)\.json$|^merges\.txt$|^model[^/]*\.safetensors(\.index\.json)?$/;

/** Most consecutive attempts at a broken transfer that bring no further bytes. */
const ATTEMPTS = 4;
const PAUSE_MS = 200;

/**
 * Downloads a checkpoint into the Hub's cache, shared with Python's huggingface_hub (HF_HUB_CACHE, HF_HOME): files in
 * the cache are not downloaded again. An interrupted transfer is resumed; every file is verified by its hash before it
 * gets its name. HF_ENDPOINT sets another server, HF_TOKEN gives access to gated and private models.
 * @returns the directory of the snapshot, or the path of the single file.
 * @throws UserError that names what is missing, forbidden or broken.
 */
export async function downloadFromHub(source: HubSource, options: SourceOptions = {}): Promise<string> {
  const { hub, access } = await openHub();
  const { repo, revision } = source;
  try {
    const { sha } = await hub.modelInfo({ name: repo, revision, additionalFields: ["sha"], ...access });
    const files: ListFileEntry[] = [];
    for await (const entry of hub.listFiles({ repo, revision: sha, ...access }))
      if (entry.type === "file") files.push(entry);
    const wanted = wantedFiles(source, files);
    const cache = join(hub.getHFHubCachePath(), `models--${repo.replace("/", "--")}`);
    const snapshot = join(cache, "snapshots", sha);
    for (const entry of wanted) {
      const place = join(snapshot, entry.path);
      if (existsSync(place)) continue;
      const blob = join(cache, "blobs", entry.lfs?.oid ?? entry.oid ?? "");
      if (!existsSync(blob)) {
        const remote = await hub.downloadFile({ repo, revision: sha, path: entry.path, ...access });
        if (remote === null) fail(`${repo} lists ${entry.path}, but does not have it.`);
        await bring(remote, entry, blob, options);
      }
      link(blob, place);
    }
    return source.file === undefined ? snapshot : join(snapshot, source.file);
  } catch (error) {
    throw explained(error, source, access.hubUrl ?? hub.HUB_URL, access);
  }
}

function wantedFiles({ repo, revision, file }: HubSource, files: readonly ListFileEntry[]): ListFileEntry[] {
  const where = `${repo} at ${revision}`;
  const gguf = files.filter(({ path }) => path.endsWith(".gguf")).map(({ path }) => path);
  if (file !== undefined) {
    const found = files.filter(({ path }) => path === file);
    if (found.length > 0) return found;
    fail(`There is no file ${file} in ${where}.`, {
      hint: gguf.length > 0 ? `it has ${gguf.join(", ")}` : `it has ${files.map(({ path }) => path).join(", ")}`,
    });
  }
  const wanted = files.filter(({ path }) => WANTED.test(path));
  if (wanted.some(({ path }) => path.endsWith(".safetensors"))) return wanted;
  fail(`There are no safetensors in ${where}.`, {
    hint:
      gguf.length > 0
        ? `it has GGUF files: ${HUB_PREFIX}${repo}:${gguf[0]}`
        : "name another revision, or save the model as safetensors with transformers",
  });
}

/** Resumes or starts the download of a file, and renames it when its hash is right. */
async function bring(remote: Blob, entry: ListFileEntry, blob: string, options: SourceOptions): Promise<void> {
  const part = `${blob}.incomplete`;
  mkdirSync(dirname(blob), { recursive: true });
  for (let failures = 0; ; ) {
    const from = existsSync(part) ? statSync(part).size : 0;
    try {
      await append(part, remote, from, (done) => {
        options.progress?.(entry.path, done, remote.size);
        options.signal?.throwIfAborted();
      });
      break;
    } catch (error) {
      options.signal?.throwIfAborted();
      failures = statSync(part).size > from ? 0 : failures + 1;
      // errors of the file system, such as a full disk, are not retried
      if (failures >= ATTEMPTS || (error as NodeJS.ErrnoException | null)?.syscall !== undefined) throw error;
      await setTimeout(PAUSE_MS * failures);
    }
  }
  if ((await hashOf(part, entry)) !== (entry.lfs?.oid ?? entry.oid)) {
    rmSync(part);
    fail(`${entry.path} arrived damaged: its hash is not the one that the Hub lists.`, {
      hint: "run the same command again",
    });
  }
  renameSync(part, blob);
}

/** Appends the data from byte `from` on. */
async function append(path: string, data: Blob, from: number, written: (bytes: number) => void): Promise<void> {
  await using file = closing(await open(path, "a"));
  if (from >= data.size) return;
  let done = from;
  for await (const piece of data.slice(from).stream() as unknown as AsyncIterable<Uint8Array>) {
    await file.appendFile(piece);
    done += piece.length;
    written(done);
  }
}

/** Computes the hash that the Hub lists for a file: SHA-256 for large files, git's SHA-1 for others. */
async function hashOf(path: string, { lfs }: ListFileEntry): Promise<string> {
  if (lfs !== undefined) return sha256File(path);
  const bytes = readFileSync(path);
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

/** Links a blob into the snapshot; if links are not allowed, moves the file. */
function link(blob: string, place: string): void {
  mkdirSync(dirname(place), { recursive: true });
  try {
    symlinkSync(relative(dirname(place), blob), place);
  } catch {
    renameSync(blob, place);
  }
}

function explained(error: unknown, source: HubSource, endpoint: string, access: HubAccess): unknown {
  const token = access.accessToken;
  if (error instanceof UserError || (error as Error | null)?.name === "AbortError") return error;
  const what = `${source.repo} (revision ${source.revision}) of ${endpoint}`;
  const status = (error as { statusCode?: number } | null)?.statusCode;
  if (status === 401 || status === 403 || status === 404) {
    return new UserError(`${what} cannot be had: ${hubMessage(error, access)}`, {
      hint:
        token === undefined
          ? "check the name; if the model is gated or private, set HF_TOKEN"
          : "check the name; a gated model's terms must be accepted on its page with the account of HF_TOKEN",
      cause: error,
    });
  }
  return new UserError(`${what} could not be downloaded: ${hubMessage(error, access)}`, {
    hint: "check the network, and HF_ENDPOINT for a mirror; the same command goes on where this one ended",
    cause: error,
  });
}

/** Opens `hf:org/name[@revision][:file]`: a model on the Hugging Face Hub. */
export const checkpoints: CheckpointSource = {
  takes: (source) => source.startsWith(HUB_PREFIX),
  open: (source, options) => downloadFromHub(parseHubSource(source), options),
};
