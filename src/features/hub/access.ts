import { optional } from "../../core/optional.js";

/**
 * The Hub's client, and where and as whom it speaks: HF_ENDPOINT names another server, HF_TOKEN an account.
 * @throws UserError where the package is not installed.
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
