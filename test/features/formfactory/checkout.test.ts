import assert from "node:assert/strict";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { UserError } from "../../../src/core/errors.js";
import {
  CATALOG,
  type CatalogRow,
  formId,
  formTitle,
  HELDOUT_FORMS,
} from "../../../src/features/formfactory/catalog.js";
import { openCheckout, splitDocuments } from "../../../src/features/formfactory/checkout.js";
import { goldFields } from "../../../src/features/formfactory/gold.js";
import { readLiteral, readRoutes } from "../../../src/features/formfactory/routes.js";
import { createApp } from "../../../src/features/formfactory/server.js";
import { renderTemplate, TemplateError } from "../../../src/features/formfactory/template.js";
import { temporaryFolder } from "../../support/temporary.js";
import { MADE_FORMS, madeCheckout } from "./made-checkout.js";

const ROWS: readonly CatalogRow[] = CATALOG.filter((row) => (MADE_FORMS as readonly string[]).includes(formId(row)));

function problem(changes: Readonly<Record<string, string | undefined>>, rows = ROWS): UserError {
  try {
    openCheckout(madeCheckout(changes), rows);
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    return error;
  }
  return assert.fail("nothing was wrong");
}

const empty = temporaryFolder("no-checkout");

test("without a checkout: what is missing, and what to clone", () => {
  writeFileSync(join(empty, "file"), "");
  for (const [path, message] of [
    [join(empty, "gone"), /gone does not exist/],
    [join(empty, "file"), /file is not a directory/],
    [empty, /is no checkout of FormFactory: app\.py, templates, data\/data1, data\/data2 missing/],
  ] as const) {
    assert.throws(() => openCheckout(path, CATALOG), { name: "UserError", message, hint: /git clone https/ });
  }
});

test("every file that is missing or changed is named, all at once", () => {
  const error = problem({
    "templates/job-application.html": undefined,
    "templates/course-registration.html": "{% for x in y %}",
    "data/data1/IT_support.json": undefined,
    "data/data1/student_courses.json": "[{]",
    "data/data1/grant_applications.json": '{"a": 1}',
    "data/data2/Contrator_onboard.txt": undefined,
  });
  for (const part of [
    /job-application\.html: there is no such template/,
    /course-registration\.html, line 1: \{% for x in y %\} is not understood/,
    /IT_support\.json is missing/,
    /student_courses\.json is not valid JSON/,
    /grant_applications\.json: expected a list of objects/,
    /Contrator_onboard\.txt is missing/,
  ])
    assert.match(error.message, part);
  assert.match(error.hint ?? "", /git clone/);
  const many = /nothing is served at \/academic-research\/scholarship-application[\s\S]*and \d+ more/;
  assert.match(problem({}, CATALOG).message, many);
  const { message } = problem({ "app.py": "print('hello')" });
  assert.match(message, /app\.py: nothing is served at \/academic-research\/job/);
});

test("pages, static files and answers are the checkout's own; nothing outside of it is served", async () => {
  const made = madeCheckout();
  symlinkSync(join(made, "app.py"), join(made, "static", "link.py"));
  const app = createApp(openCheckout(made, ROWS));
  const page = await (await app.request("/academic-research/job-application")).text();
  assert.match(page, /<title>Job & more<\/title>\n<link rel="stylesheet" href="https:\/\/cdn\.invalid/);
  assert.match(page, /action="\/academic-research\/job-application"/);
  assert.match(page, /src="\/static\/js\/missing\.js"/);
  assert.equal(await (await app.request("/")).text(), "<h1>Made forms</h1>");
  const settings = (await (await app.request("/settings")).json()) as object;
  assert.equal(Object.keys(settings).join(), "title,strict,limit,fields");
  assert.equal((await app.request("/static/css/made.css")).headers.get("content-type"), "text/css; charset=utf-8");
  for (const path of ["js/missing.js", "../app.py", "%2e%2e/app.py", "..%2fapp.py", "link.py"])
    assert.equal((await app.request(`/static/${path}`)).status, 404, path);
  const body = new FormData();
  for (const value of ["B1", "B2"]) body.append("courses[]", value);
  body.append("who", "Ann");
  body.append("scan", new File(["x"], "x.txt"));
  const answer = await app.request("/academic-research/course-registration", { method: "POST", body });
  assert.deepEqual(await answer.json(), { data: { "courses[]": "B1", who: "Ann" }, message: "Form 2 Received!" });
  assert.equal((await app.request("/settings", { method: "POST" })).status, 404);
});

test("texts are told apart by the next number, marked as the first one", () => {
  assert.deepEqual(
    splitDocuments("1. One\n\n1) a\n2) b\n3. out of turn\n2. Two\n 10 things\n2.5 times\n\n3.Three 4. not here\n"),
    ["One\n\n1) a\n2) b\n3. out of turn", "Two\n 10 things\n2.5 times", "Three 4. not here"],
  );
  assert.deepEqual(splitDocuments("1)A\n1. x\n2. y\n2) B"), ["A\n1. x\n2. y", "B"]);
  assert.deepEqual(splitDocuments("no numbers"), []);
  assert.deepEqual(splitDocuments(""), []);
});

test("any texts come back, lists of the other mark inside included", () => {
  const body = fc.array(fc.constantFrom("Dear club", "1) tea", "2) cake", "", "it was 3. then"), { minLength: 1 });
  fc.assert(
    fc.property(fc.array(body, { minLength: 1, maxLength: 12 }), (bodies) => {
      const texts = bodies.map((lines) => lines.join("\n").trim());
      assert.deepEqual(splitDocuments(texts.map((text, i) => `${i + 1}. ${text}\n`).join("\n")), texts);
    }),
    { seed: 1 },
  );
});

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

const render = (name: string, sources: Readonly<Record<string, string>>): string =>
  renderTemplate(name, {
    source: (wanted) => sources[wanted],
    urlFor: (endpoint, filename) =>
      endpoint === "static" ? `/static/${filename}` : endpoint === "send" ? "/a?b=1&c" : undefined,
  });

test("blocks of a child replace those of its parents, at any depth", () => {
  const sources = {
    root: "[{% block head %}root{% endblock %}|{% block body %}{% block inner %}in{% endblock inner %}!{% endblock %}]\n",
    middle: "{% extends 'root' %}\n{% block body %}<{% block inner %}mid{% endblock %}>{% endblock %}",
    leaf: '{% extends "middle" %} lost text {% block inner %}leaf{% endblock %}{# {% nothing %} #}',
  };
  assert.equal(render("root", sources), "[root|in!]");
  assert.equal(render("middle", sources), "[root|<mid>]");
  assert.equal(render("leaf", sources), "[root|<leaf>]");
});

test("url_for becomes an escaped address; a minus takes blanks away", () => {
  assert.equal(
    render("t", { t: "<a href=\"{{ url_for('send') }}\">{{ url_for('static', filename='js/a.js') }}" }),
    '<a href="/a?b=1&amp;c">/static/js/a.js',
  );
  assert.equal(render("t", { t: "a \n {%- block x -%} \n b {%- endblock %} c\r\n" }), "ab c");
});

test("anything else is refused with its place", () => {
  for (const [source, message] of [
    ["\n\n{% if x %}", /t, line 3: \{% if x %\} is not understood/],
    ["{{ name }}", /t, line 1: \{\{ name \}\} is not understood/],
    ["{{ url_for('send', page=2) }}", /is not understood/],
    ["{{ url_for('nowhere') }}", /nothing is called nowhere/],
    ["{% block a %}", /block a is not closed/],
    ["{% endblock %}", /endblock without a block/],
    ["{% extends 'gone' %}", /gone: there is no such template/],
    ["{% extends 't' %}", /extend each other/],
  ] as const)
    assert.throws(
      () => render("t", { t: source }),
      (error: Error) => {
        return error instanceof TemplateError && message.test(error.message);
      },
      source,
    );
});

test("the catalog names each of the 25 forms once", () => {
  assert.equal(CATALOG.length, 25);
  assert.equal(new Set(CATALOG.map((row) => row.gold)).size, 25);
  assert.equal(new Set(CATALOG.map(formId)).size, 25);
  assert.equal(new Set(CATALOG.map((row) => formId(row).split("/")[0])).size, 8);
  assert.ok(HELDOUT_FORMS.every((form) => CATALOG.some((row) => formId(row) === form)));
  assert.equal(formTitle({ gold: "x", path: "/a/nda-submission-form" }), "Nda submission form");
});

test("gold rows are told by the page's labels", () => {
  const row = { name: "Ann", reference: { name: "Bo", other: 1 }, "Highest Education Level": "PhD", Industry: "PhD" };
  assert.deepEqual(goldFields("professional-business/membership-application", row), {
    ...{ "Full Name": "Ann", "Reference Name": "Bo", "Reference Email": "" },
    ...{ "Highest Education Level": "Doctorate", Industry: "PhD" },
  });
  const [form, plain] = ["tech-software/bug-report", { name: "x", list: ["a", "b"], n: 3, yes: false }];
  assert.deepEqual(goldFields(form, plain), plain);
  assert.throws(() => goldFields(form, { Odd: { a: 1 } }), /bug-report: Odd: .* is no value of a form/);
});
