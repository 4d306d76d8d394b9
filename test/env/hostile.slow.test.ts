import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import type { Episode } from "../../src/env/forms/episode.js";
import { FORM, openRunner, playForm, servePages, taskFor } from "./page-site.js";

const pages: Record<string, string> = {};
const site = await servePages(pages);
const runner = await openRunner(site, { contexts: 2, actionTimeoutMs: 3000, episodeTimeoutMs: 20_000 });
after(() => runner.close());
after(() => site.stop());

/** Asserts that an episode has either a score or a fault without a score. */
function checkEpisode(episode: Episode): void {
  if (episode.fault !== undefined) assert.ok(Number.isNaN(episode.reward) && episode.fault.length > 0);
  else assert.ok(episode.reward >= 0 && episode.reward <= 1);
}

/** Generates text with a meaning in HTML, selectors, scripts, file systems or terminals. */
const loaded = fc.constantFrom(
  `"'><img src=x onerror=fetch('/stolen')>`,
  `');fetch('/stolen');//`,
  "text=Name >> xpath=//input",
  "#n, [name=n]:has(*)",
  "../../etc/passwd",
  "$(touch /tmp/x); `id`",
  "javascript:fetch('/stolen')",
  "\u0000\u0007\u001b[2J\u2028\u202e\ufeff",
  "\ud800 lone",
  "__proto__",
  "constructor",
  "Name",
  "Colour",
  ":".repeat(4000),
);
const text = fc.oneof(loaded, fc.string({ unit: "binary", maxLength: 60 }), fc.string({ unit: "grapheme" }));

const piece = fc.oneof(
  fc.constantFrom(
    "<form><form method=post><label>Name <input name=n>",
    "</form></label></select>",
    "<input id=a name=n><input id=a name=n><label for=a>Name</label><label for=nothing>Name</label>",
    "<form method=post><input name=elements><input name=action><input name=submit><input name=noValidate><button>Submit</button></form>",
    "<form name=querySelectorAll></form><img name=body><embed name=getElementById><form name=documentElement></form>",
    `<select name=s aria-label=Colour>${"<option>Red</option>".repeat(3000)}</select>`,
    `<label>Name ${"<b>".repeat(600)}<input name=deep></label>`,
    "<div id=h></div><script>h.attachShadow({ mode: 'open' }).innerHTML = '<form><label>Name <input name=q></label><button>Submit</button></form>'</script>",
    "<script>customElements.define('x-y', class extends HTMLElement { get type() { throw 1 } connectedCallback() { this.parentNode.append(this.cloneNode()); throw 2 } }); setTimeout(() => customElements, 0)</script><x-y></x-y>".replace(
      "this.parentNode.append(this.cloneNode());",
      "",
    ),
    "<script>new MutationObserver(() => { const f = document.forms[0]; if (f && f.children.length < 200) f.append(document.createElement('input')); }).observe(document, { subtree: true, childList: true, attributes: true })</script>",
    "<script>addEventListener('input', () => document.forms[0]?.remove())</script>",
    "<script>addEventListener('click', () => { document.body.textContent = ''; }, true)</script>",
    "<script>addEventListener('submit', (e) => { e.stopImmediatePropagation(); throw 1; }, true)</script>",
    "<fieldset disabled><input name=x></fieldset><dialog open><form method=dialog><button>Submit</button></form></dialog>",
    "<label>Name <textarea name=t></textarea></label><script>document.querySelector('textarea').value = 'x'.repeat(1e6)</script>",
    "<iframe srcdoc='<form><input name=f></form>'></iframe><object data=/plan></object><frameset><frame></frameset>",
    "<input type=number name=z aria-label=Name aria-labelledby='a a a'><input type=radio name=r><input type=radio name=r aria-label=Name>",
    "<svg><foreignObject><input name=v></foreignObject></svg><math><input name=m></math><template><input name=t></template>",
    "<button>Submit</button><input type=submit value=Send>",
    "<form method=post><label>Name<input name=n></label><button>Submit</button></form>",
  ),
  text,
);

test("any page is an episode or a fault, and the next page is read as ever", async () => {
  let page = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 6 }), async (parts) => {
      const path = `/any-${page++}`;
      pages[path] = parts.join("");
      const lines = "fill Name | Ann\nselect Colour | Red\ncheck n\nclick Send\nsubmit";
      checkEpisode(await runner.run(taskFor(path, { Name: "Ann", Colour: "Red" }), lines));
    }),
    { seed: 11, numRuns: 12 },
  );
  pages["/plain"] = FORM;
  assert.equal((await playForm(runner, "/plain")).reward, 1);
});
