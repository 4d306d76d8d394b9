import $ from "jquery";

globalThis.jQuery = globalThis.$ = $;
export default $;
