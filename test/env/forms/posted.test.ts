import assert from "node:assert/strict";
import { test } from "node:test";
import { readPosted, readText } from "../../../src/env/forms/posted.js";

const shown = (pairs: readonly (readonly [string, string])[]): string[] => pairs.map((pair) => pair.join(": "));
const read = async (text: string, type: string): Promise<string[]> => shown(await readPosted(Buffer.from(text), type));

test("a body is read as what it says it is, in the order it was sent", async () => {
  const urlencoded = await read("b=1+2&a=%C3%A9&b=", "application/x-www-form-urlencoded; charset=UTF-8");
  assert.deepEqual(urlencoded, ["b: 1 2", "a: é", "b: "]);
  const multipart = [
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1=2&3\r\n',
    '--x\r\nContent-Disposition: form-data; name="f"; filename="cv.pdf"\r\nContent-Type: text/plain\r\n\r\nhello\r\n',
    "--x--\r\n",
  ].join("");
  // a file is represented by its name
  assert.deepEqual(await read(multipart, "multipart/form-data; boundary=x"), ["a: 1=2&3", "f: cv.pdf"]);
  assert.deepEqual(await read(multipart, "multipart/form-data"), [], "no boundary");
});

test("JSON is read by its leaves, a list repeats its key", async () => {
  const pairs = ["form.name: Ann", "form.days: Mon", "form.days: Tue", "zip: 0", "news: false", "note: "];
  const body = JSON.stringify({ form: { name: "Ann", days: ["Mon", "Tue"] }, zip: 0, news: false, note: null });
  assert.deepEqual(await read(body, "application/JSON"), pairs);
  // a script may post JSON under another content type
  assert.deepEqual(await read(body, "text/plain"), pairs);
  assert.deepEqual(await read(body, ""), pairs);
  for (const broken of ["{}", "[]"]) assert.deepEqual(await read(broken, "text/plain"), []);
  assert.deepEqual(await read('[{"a":1},{"a":2}]', "application/json"), ["a: 1", "a: 2"]);
});

test("JSON is read ten objects deep", async () => {
  const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  assert.deepEqual(await read(nested(2), "application/json"), ["a.a: 1"]);
  assert.equal((await read(nested(10), "application/json")).length, 1);
  assert.deepEqual(await read(nested(11), "application/json"), []);
});

test("values that hold a form themselves are opened: JSON in a string, an encoded form, pairs of name and value", async () => {
  const encoded = "application/x-www-form-urlencoded";
  const inside = await read(`action=save&data=${encodeURIComponent('{"who":{"name":"Ann"}}')}`, encoded);
  assert.deepEqual(inside, ["action: save", "data.who.name: Ann"]);
  assert.deepEqual(await read(`data=${encodeURIComponent("n=Ann&a=4%201")}`, encoded), ["n: Ann", "a: 4 1"]);
  const named = await read('[{"name":"n","value":"Ann"},{"field":"a","answer":[1,2]}]', "application/json");
  assert.deepEqual(named, ["n: Ann", "a: 1", "a: 2"]);
});

test("other texts are read by their lines, XML by its elements, frames of a socket by the JSON in them", async () => {
  assert.deepEqual(await read("n=Ann Lee\r\na=41\r\n", "text/plain"), ["n: Ann Lee", "a: 41"]);
  assert.deepEqual(await read("<p><n>Ann &amp; Bo</n><a x='1'>41</a></p>", "text/xml"), ["n: Ann & Bo", "a: 41"]);
  assert.deepEqual(shown(readText('42["submit",{"n":"Ann"}]')), [": submit", "n: Ann"]);
});

test("no body and one beyond 16 MB are no pairs; names are cut as values are", async () => {
  const type = "application/x-www-form-urlencoded";
  assert.deepEqual(await readPosted(null, type), []);
  assert.deepEqual(await read("", type), []);
  assert.equal((await read(`a=${"x".repeat(15_999_998)}`, type)).length, 1);
  assert.equal((await read(`a=${"x".repeat(15_999_999)}`, type)).length, 0);
  assert.equal((await readPosted(Buffer.from(`${"n".repeat(40_000)}=1`), type))[0]?.[0].length, 32_768);
});
