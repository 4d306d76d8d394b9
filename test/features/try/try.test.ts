import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { callProgram } from "../../support/call-program.js";
import { CliProcess } from "../../support/cli-process.js";
import { temporaryFolder } from "../../support/temporary.js";

const dir = temporaryFolder("try");

const CONFIG = ["--config", "configs/tiny/quickstart.yaml"];
const called = (...args: string[]) => callProgram("train", dir, ["try", ...args]);
const TASK = "embedded/starter/library/card-request/train/0000";

test("try plays the task of its help, and shows what was done and received, picture by picture", async () => {
  const out = join(dir, "film");
  const help = (await called("--help")).out;
  const example = /refusion-train try .*--task (\S+)/.exec(help)?.[1] ?? "";
  const played = await called(...CONFIG, "--task", example, "--policy", "oracle", "--out", out);
  assert.equal(played.code, 0, played.err);
  assert.match(played.out, /The server received, beside the truth/);
  assert.match(played.out, /reward 1\.000/);
  const pictures = readdirSync(out).filter((name) => name.endsWith(".jpg"));
  assert.ok(pictures.length >= 3, "the page untouched, and after each field");
  for (const name of pictures) assert.deepEqual([...readFileSync(join(out, name)).subarray(0, 2)], [0xff, 0xd8]);
  const film = readFileSync(join(out, "index.html"), "utf8");
  assert.match(film, /<figure>.*the page/);
  const verdict = /<p class="verdict good">Reward 1\.000\. The form was filled in right\.<\/p>.*The server received/s;
  assert.match(film, verdict);
  assert.ok(played.out.trimEnd().endsWith(join(out, "index.html")));
});

test("without a word it plays the shipped model on a shipped page with a shipped letter, round by round", async () => {
  const out = join(dir, "shipped");
  // no display, whatever this machine has
  const env = { DISPLAY: "", WAYLAND_DISPLAY: "" };
  const { code, out: said, err } = await new CliProcess(["try", "--out", out], { cwd: dir, env }).ended;
  assert.equal(code, 0, err);
  assert.match(said, /the policy reads:\n\npage: Archive Visit\n Guest Name/);
  assert.match(said, /\nround 1:\nfill Guest Name \| [\s\S]*\nround 2:\nfill Guest Name \| /);
  assert.match(said, /The server received, beside the truth[\s\S]*\nreward [01]\.\d{3}\n/);
  assert.ok(existsSync(join(out, "index.html")) && existsSync(join(out, "0.jpg")));
});

test("--url fills in a page of one's own from a text: what, how sure, from which words; nothing is sent", async () => {
  const [page, letter] = [join(dir, "visit.html"), join(dir, "letter.txt")];
  writeFileSync(
    page,
    `<title>Archive Visit</title><form action="http://127.0.0.1:9/"><label>Guest Name <input name=g></label>
     <label>Print Card <input type=checkbox name=c></label><label>Passport <input type=file name=p required></label>
     <button>Send</button></form><label>Search <input></label>`,
  );
  writeFileSync(letter, "Hello, guest name is Ines Meyer, print card too.");
  const out = join(dir, "own-page");
  const source = ["--url", page, "--text", letter, "--model", "models/tiny-refusion-letters", "--out", out, "--film"];
  const { code, out: said, err } = await called(...source, "--check-below", "0");
  assert.equal(code, 0, err);
  const filled = /^ {2}Filled\n +field +value +sure +from the words\n +Guest Name +.* \d+ %.*\n +Print Card +(yes|no)/;
  assert.match(said, filled);
  // what is required and empty comes first, without a probability
  assert.match(said, /\n {2}Left for you\n {4}! Passport +required\n +Search +in another form\n/);
  const film = readFileSync(join(out, "index.html"), "utf8");
  assert.match(film, /2 filled, 2 left for you\. Not sent\.[\s\S]*show\(frames\.length - 1\)/);
  assert.match(film, /The letter<\/h2><pre>Hello, guest name is Ines Meyer[\s\S]*<figure>[\s\S]*fill Guest Name \|/);
  assert.deepEqual(readdirSync(out).sort(), ["0.jpg", "1.jpg", "index.html"]);
});

test("what cannot be tried is said before anything is opened", async () => {
  const letter = join(dir, "words.txt");
  writeFileSync(letter, "  \n");
  for (const [args, says] of [
    [["--url", "nowhere.html", "--text", letter], /nowhere\.html is neither an address nor a file/],
    [["--url", "javascript:alert(1)", "--text", letter], /is neither an address nor a file/],
    [["--url", letter], /No text to fill the page from/],
    [["--url", letter, "--text", letter], /The text .* is empty/],
    [["--url", letter, "--text", join(dir, "none.txt")], /Cannot read the text/],
    [["--text", letter], /name the page: --url/],
    [["--config", "configs/tiny/quickstart.yaml"], /--task ID is missing/],
  ] as const) {
    const { code, err } = await called(...args);
    assert.match(err, says);
    assert.equal(code, 2);
  }
});

test("without a browser it says how to get one", async () => {
  // neither Playwright's own nor one on the PATH
  const env = { PATH: dir, REFUSION_BROWSER: "", PLAYWRIGHT_BROWSERS_PATH: dir };
  const { code, err } = await new CliProcess(["try"], { cwd: dir, env }).ended;
  assert.equal(code, 1);
  assert.match(err, /No Chromium was found\.\n {2}next: run `npx playwright@\d+\.\d+\.\d+ install chromium`/);
});

test("a plan of one's own is played as it is; a task that is not there is named with the nearest", async () => {
  const plan = ["--plan", "fill Last Name | Nobody;;submit", "--out", join(dir, "own")];
  const played = await called(...CONFIG, "--task", TASK, ...plan);
  assert.match(played.out, /fill Last Name \| Nobody/);
  const lost = await called(...CONFIG, "--task", TASK.replace("0000", "000O"));
  assert.deepEqual([lost.code, lost.out], [2, ""]);
  const nearest = /There is no task .*\n {2}next: there is embedded\/starter\/library\/card-request\/train\/000\d/;
  assert.match(lost.err, nearest);
});
