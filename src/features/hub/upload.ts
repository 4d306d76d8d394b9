import { pathToFileURL } from "node:url";
import { fail, misuse } from "../../core/errors.js";
import { hubMessage, openHub } from "./access.js";

/**
 * Uploads a folder as one commit to a repository of the Hub, and creates the repository if needed.
 * @returns the commit's address.
 * @throws UserError if HF_TOKEN is missing, or the Hub refuses.
 */
export async function upload(
  type: "model" | "dataset",
  name: string,
  folder: string,
  { isPrivate, title, signal }: { readonly isPrivate: boolean; readonly title: string; readonly signal: AbortSignal },
): Promise<string> {
  const { hub, access } = await openHub();
  const { accessToken, hubUrl } = access;
  if (accessToken === undefined)
    misuse("HF_TOKEN is not set: the Hub takes uploads only from an account.", {
      hint: "make a token that may write on the Hub's settings page, and set HF_TOKEN; --dry-run needs none",
    });
  const to = { repo: { type, name }, accessToken, ...(hubUrl === undefined ? {} : { hubUrl }) };
  try {
    await hub.createRepo({ ...to, ...(isPrivate ? { visibility: "private" as const } : {}) }).catch((error) => {
      // it exists already
      if ((error as { statusCode?: number }).statusCode !== 409) throw error;
    });
    const output = await hub.uploadFiles({
      ...to,
      // a folder stands for all its files
      files: [{ path: "", content: pathToFileURL(folder) }],
      commitTitle: title,
      abortSignal: signal,
    });
    return output?.commit.url ?? "";
  } catch (error) {
    signal.throwIfAborted();
    const status = (error as { statusCode?: number } | null)?.statusCode;
    fail(`${type} ${name} could not be uploaded to ${hubUrl ?? hub.HUB_URL}: ${hubMessage(error, access)}`, {
      hint:
        status === 401 || status === 403
          ? "the account of HF_TOKEN must be allowed to write there"
          : "check the network, and HF_ENDPOINT; the same command starts again",
    });
  }
}
