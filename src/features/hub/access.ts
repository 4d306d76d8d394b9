import { messageOf, misuse } from "../../core/errors.js";
import { optional } from "../../core/optional.js";

/** Address of another server than the Hub, and the account's token. */
export interface HubAccess {
  readonly hubUrl?: string;
  readonly accessToken?: string;
}

/**
 * Loads the Hub's client, with its address (HF_ENDPOINT) and access token (HF_TOKEN) from the environment.
 * @throws UserError if the package is not installed.
 */
export async function openHub(): Promise<{
  readonly hub: typeof import("@huggingface/hub");
  readonly access: HubAccess;
}> {
  const hub = await optional("The Hub needs", "@huggingface/hub", () => import("@huggingface/hub"));
  const { HF_ENDPOINT: endpoint, HF_TOKEN: accessToken } = process.env;
  const access = {
    ...(endpoint === undefined || endpoint === "" ? {} : { hubUrl: endpoint.replace(/\/+$/, "") }),
    ...(accessToken === undefined || accessToken.trim() === ""
      ? {}
      : { accessToken: checkedToken(accessToken.trim()) }),
  };
  return { hub, access };
}

/** @throws UserError, which does not quote it, where no request could carry it: Node's own message would. */
function checkedToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  misuse("HF_TOKEN holds spaces or other characters that no token has.", {
    hint: "copy it anew from the Hub's settings",
  });
}

/** Returns the message of an error of the Hub's client, without the token, which a server may have echoed. */
export function hubMessage(error: unknown, { accessToken }: HubAccess): string {
  const text = messageOf(error);
  return accessToken === undefined ? text : text.replaceAll(accessToken, "***");
}

/** Tells whether a text names a repository of the Hub: `owner/name`. */
export function isRepoName(text: string): boolean {
  const part = /^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9_])?$/;
  const parts = text.split("/");
  return (
    parts.length === 2 && parts.every((name) => part.test(name) && !/\.\.|--|\.git$/.test(name)) && text.length <= 96
  );
}
