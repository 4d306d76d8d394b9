import { optional } from "../../core/optional.js";

/**
 * Loads the Hub's client, with its address (HF_ENDPOINT) and access token (HF_TOKEN) from the environment.
 * @throws UserError if the package is not installed.
 */
export async function openHub(): Promise<{
  readonly hub: typeof import("@huggingface/hub");
  readonly access: { readonly hubUrl?: string; readonly accessToken?: string };
}> {
  const hub = await optional("The Hub needs", "@huggingface/hub", () => import("@huggingface/hub"));
  const { HF_ENDPOINT: endpoint, HF_TOKEN: accessToken } = process.env;
  const access = {
    ...(endpoint === undefined || endpoint === "" ? {} : { hubUrl: endpoint.replace(/\/+$/, "") }),
    ...(accessToken === undefined || accessToken === "" ? {} : { accessToken }),
  };
  return { hub, access };
}
