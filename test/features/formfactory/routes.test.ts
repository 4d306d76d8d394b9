import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readLiteral, readRoutes } from "../../../src/features/formfactory/routes.js";

test("literals are read as Python reads them", () => {
  assert.deepEqual(
    readLiteral(`{'a': "it's", "b": [1, -2.5, True, False, None,], # comment
      'c': {}, "d": 'tab\\t\\u00e9\\'' }  and more`),
    { a: "it's", b: [1, -2.5, true, false, null], c: {}, d: "tab\té'" },
  );
  for (const source of ["", "name", "{'a': call()}", "{1: 2}", "['a' 'b'", "f'x'", "{'a'; 1}", "'open"])
    assert.throws(() => readLiteral(source), /no literal at offset/, source);
  fc.assert(
    fc.property(fc.json({ noUnicodeString: true }), (json) => {
      const names: Record<string, string> = { true: "True", false: "False", null: "None" };
      const python = json.replace(/\b(?:true|false|null)\b/g, (name) => names[name] as string);
      fc.pre(!/true|false|null|True|False|None/.test(JSON.stringify(Object.keys(JSON.parse(json) ?? {}))));
      fc.pre(JSON.stringify(JSON.parse(json)) === json && !/"[^"]*(?:true|false|null|\\)[^"]*"/.test(json));
      assert.deepEqual(readLiteral(python), JSON.parse(json));
    }),
    { seed: 3 },
  );
});

test("addresses are read out of the source, never run", () => {
  const routes = readRoutes(`
app = Flask(__name__)

@app.route('/plain')
def plain():
    return "<h1>Hi</h1>"

@app.route("/form", methods=['GET', 'POST'])
@app.route("/alias", methods=["POST"])
def form():
    if request.method == 'POST':
        return jsonify({"message": "Thanks!", "data": 1})
    return render_template('f.html')

@app.post('/only')
def only():
    return do_something(request)

@app.route('/data')
def data():
    reply = {
        'x': [1, 2]
    }
    return jsonify(reply)

@app.route('/late')
def late():
    reply = compute()
    return jsonify(reply)

@app.route('/filled')
def filled():
    return render_template('f.html', name=1)

def save(x):
    return x
`);
  assert.deepEqual(
    routes.map(({ path, endpoint, posts, answer, message }) => [path, endpoint, posts, answer.kind, message]),
    [
      ["/plain", "plain", false, "text", "Submitted"],
      ["/form", "form", true, "template", "Thanks!"],
      ["/alias", "form", true, "template", "Thanks!"],
      ["/only", "only", true, "unknown", "Submitted"],
      ["/data", "data", false, "json", "Submitted"],
      ["/late", "late", false, "unknown", "Submitted"],
      ["/filled", "filled", false, "unknown", "Submitted"],
    ],
  );
  assert.deepEqual(routes[4]?.answer, { kind: "json", data: { x: [1, 2] } });
  assert.deepEqual(routes[0]?.answer, { kind: "text", text: "<h1>Hi</h1>" });
});
