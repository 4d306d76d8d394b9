import assert from "node:assert/strict";
import { test } from "node:test";
import { renderTemplate, TemplateError } from "../../../src/features/formfactory/template.js";

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
