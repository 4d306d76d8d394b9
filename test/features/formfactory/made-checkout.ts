import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/**
 * A checkout in FormFactory's shape, of our own making: its layout, its conventions and its oddities (labels and names
 * that differ, phantom keys, values that are no option, odd rows, required files, a form built by a script), none of its
 * content.
 */
export const MADE_FORMS = [
  "academic-research/job-application",
  "academic-research/grant-application",
  "academic-research/course-registration",
  "professional-business/membership-application",
  "tech-software/support-request",
  "legal-compliance/contractor-onboarding",
] as const;

const APP = `from flask import Flask, render_template, request, jsonify

app = Flask(__name__)

@app.route('/')
def home():
    return "<h1>Made forms</h1>"

@app.route('/settings', methods=['GET'])
def settings():
    # read by the scripted form
    reply = {
        'title': "Travel grant",
        "strict": False, "limit": None,
        "fields": [
            {"name": "given", "label": "Given Name", "type": "text"},  # shown first
            {"name": "born", "label": "Date of Birth", "type": "date"},
            {"name": "level", "label": "Level", "type": "radio", "options": ["Junior", "Senior"]},
            {"name": "news", "label": "Send news", "type": "checkbox"},
        ],
    }
    return jsonify(reply)
${MADE_FORMS.map((form, i) => {
  const name = `form_${i}`;
  return `
@app.route('/${form}', methods=['GET', 'POST'])
def ${name}():
    if request.method == 'POST':
        data = request.form.to_dict()
        return jsonify({
            "message": "Form ${i} Received!",
            "data": data
        })
    return render_template('${form.split("/")[1]}.html')
`;
}).join("")}
def helper(name):
    return name
`;

const BASE = `<!DOCTYPE html>
<html><head><title>{% block title %}Forms{% endblock %}</title>
<link rel="stylesheet" href="https://cdn.invalid/style.css">
<link rel="stylesheet" href="{{ url_for('static', filename='css/made.css') }}"></head>
<body>{# shared #}{% block content %}nothing{% endblock %}
<script src="{{ url_for('static', filename='js/missing.js') }}"></script></body></html>
`;

const page = (title: string, endpoint: string, body: string): string =>
  `{% extends 'base.html' %}
{% block title %}${title}{% endblock %}

{% block content %}
<h1>${title}</h1>
<form method="POST" action="{{ url_for('${endpoint}') }}" enctype="multipart/form-data">${body}
<button type="submit">Send it</button></form>
{% endblock %}
`;

const text = (name: string, label: string, type = "text"): string =>
  `<div><label for="${name}">${label}</label><input type="${type}" id="${name}" name="${name}"></div>`;
const select = (name: string, label: string, options: readonly [value: string, text: string][]): string =>
  `<label for="${name}">${label}</label><select id="${name}" name="${name}"><option value="">Select one</option>${options
    .map(([value, shown]) => `<option value="${value}">${shown}</option>`)
    .join("")}</select>`;

const SCRIPTED = `<!DOCTYPE html>
<html><head><title>Scripted</title>
<script src="https://cdnjs.cloudflare.com/ajax/libs/cleave.js/1.6.0/cleave.min.js"></script>
<script src="https://cdn.jsdelivr.net/npm/flatpickr"></script></head>
<body><form id="made" method="POST"></form><button type="submit" form="made">Submit</button>
<script>
const form = document.getElementById("made");
form.addEventListener("submit", (event) => {
  event.preventDefault();
  fetch(location.href, { method: "POST", body: new FormData(form) }).then((r) => r.json()).then((d) => alert(d.message));
});
fetch("/settings").then((r) => r.json()).then(({ fields }) => {
  for (const field of fields) {
    const group = document.createElement("div");
    const label = document.createElement("label");
    label.textContent = field.label;
    group.append(label);
    for (const option of field.options ?? [undefined]) {
      const input = document.createElement("input");
      input.name = field.name;
      input.type = field.type === "date" ? "text" : field.type;
      const wrap = document.createElement("div");
      wrap.append(input);
      if (option !== undefined) {
        input.value = option;
        const own = document.createElement("label");
        own.textContent = option;
        wrap.append(own);
      }
      if (field.type === "date") {
        input.placeholder = "YYYY/MM/DD";
        new Cleave(input, { blocks: [4, 2, 2], delimiter: "/" });
        setTimeout(() => flatpickr(input, { dateFormat: "Y-m-d", allowInput: true }), 0);
      }
      group.append(wrap);
    }
    form.append(group);
  }
});
</script></body></html>
`;

const TEMPLATES: Readonly<Record<string, string>> = {
  base: BASE,
  "job-application": page(
    "Job & more",
    "form_0",
    `${text("n", "Applicant *")}${text("p", "Wanted Post")}<label for="c">Why</label><textarea id="c" name="c"></textarea>`,
  ),
  "grant-application": SCRIPTED,
  "course-registration": page(
    "Courses",
    "form_2",
    `${text("who", "Student")}<div><label>Select Courses</label><div>${["B1 - Bees", "B2 - Bogs", "B3 - Bats"]
      .map(
        (course, i) =>
          `<div><input type="checkbox" id="k${i}" name="courses[]" value="${course.slice(0, 2)}"><label for="k${i}">${course}</label></div>`,
      )
      .join("")}</div></div>`,
  ),
  "membership-application": page(
    "Club",
    "form_3",
    `${text("fn", "Full Name")}${text("em", "Email Address", "email")}${text("ph", "Phone Number", "tel")}${text("db", "Date of Birth", "date")}
    <h4>Membership Level</h4><div><select name="lvl"><option value="">Choose</option><option value="g">Gold Member</option><option value="s">Silver Member</option></select></div>
    ${select("ed", "Highest Education Level", [
      ["b", "Bachelor"],
      ["d", "Doctorate"],
    ])}${text("yrs", "Years of Experience", "number")}${text("job", "Job Title")}${text("rn", "Reference Name")}${text("re", "Reference Email", "email")}
    <div><input type="checkbox" id="code" name="code"><label for="code">I agree to the code</label></div>`,
  ),
  "support-request": page(
    "Support",
    "form_4",
    `${text("s", "Subject")}${select("u", "Affected Users", [
      ["few", "1 - 10"],
      ["some", "11 - 100"],
      ["all", "101+"],
    ])}${select("w", "Best Time", [
      ["am", "Morning (8:00 AM - 12:00 PM)"],
      ["pm", "Afternoon (1:00 PM - 5:00 PM)"],
    ])}<label for="shot">Screenshot (Optional)</label><input type="file" id="shot" name="shot">`,
  ),
  "contractor-onboarding": page(
    "Contractor",
    "form_5",
    `<label for="fn">Firm</label><input id="fn" name="fn" required><label for="st">Start Date</label><input type="date" id="st" name="st" required>
    <label for="w9">Licence</label><input type="file" id="w9" name="w9" required>
    <div><input type="checkbox" id="ok" name="ok" required><label for="ok">
       I agree to
       everything</label></div><div><input type="checkbox" id="nl" name="nl"><label for="nl">I want letters</label></div>`,
  ),
};

type Row = Readonly<Record<string, unknown>>;
const people = ["Ada Moss", "Bo Fern", "Cy Reed", "Di Holm", "Ed Marsh", "Flo Birch", "Gus Pine", "Hal Elm"];
const rows = (make: (name: string, i: number) => Row): Row[] => people.map(make);

const GOLD: Readonly<Record<string, readonly Row[]>> = {
  job_applications: rows((name, i) => ({ Applicant: name, "Wanted Post": `Keeper ${i}`, Why: `I like\nplace ${i}.` })),
  grant_applications: rows((name, i) => ({
    "Given Name": name.split(" ")[0],
    "Date of Birth": `19${50 + i}/09/2${i}`,
    Level: i % 2 === 0 ? "Junior" : "Senior",
    "Send news": i % 2 === 0,
  })),
  student_courses: rows((name, i) => ({
    Student: name,
    "Selected Courses": i === 3 ? ["B9 - Boats"] : i % 2 === 0 ? ["B1 - Bees"] : ["B3 - Bats", "B1 - Bees"],
  })),
  membership_application: rows((name, i) =>
    i === 7
      ? {
          name,
          email: "h@x.example",
          phone: "555-7",
          date_of_birth: "1990-01-02",
          degree: "Doctorate in Moss",
          experience_years: 3,
          current_position: "Guide",
          membership_type: "Gold Member",
          reference: { name: "Ida Oak", contact: "ida@x.example" },
        }
      : {
          "Full Name": name,
          "Email Address": `m${i}@x.example`,
          "Date of Birth": `1980/1/${i + 1}`,
          "Membership Level": i % 2 === 0 ? "Gold Member" : "silver member",
          "Highest Education Level": i % 2 === 0 ? "PhD" : "Bachelor",
          "Years of Experience": i,
        },
  ),
  IT_support: rows((_, i) => ({
    Subject: `Lamp ${i} is out`,
    "In short": "not on the page",
    "Affected Users": [5, 11, 100, 2000][i % 4],
    "Best Time": i % 2 === 0 ? "9AM" : "Afternoon",
    "Screenshot (Optional)": "None",
  })),
  Contrator_onboard: rows((name, i) => ({
    Firm: `${name} & Co`,
    "Start Date": `2024/0${i + 1}/15`,
    "I agree to everything": "Yes",
    "I want letters": i % 2 === 0 ? "Yes" : "No",
  })),
};

function documents(rowsOf: readonly Row[], mark: string): string {
  return rowsOf
    .map(
      (row, i) =>
        `${i + 1}${mark} Letter ${i + 1}\n\nWhat I want:\n1${mark === "." ? ")" : "."} ${JSON.stringify(row)}\n2${mark === "." ? ")" : "."} an answer\n`,
    )
    .join("\n");
}

/** Writes the checkout into a temporary directory; `changes` replace files, or take them away where undefined. */
export function madeCheckout(changes: Readonly<Record<string, string | undefined>> = {}): {
  readonly dir: string;
  remove(): void;
} {
  const dir = mkdtempSync(join(tmpdir(), "made-checkout-"));
  const files: Record<string, string | undefined> = {
    "app.py": APP,
    "static/css/made.css": "form { margin: 1em }\n",
    ...Object.fromEntries(Object.entries(TEMPLATES).map(([name, source]) => [`templates/${name}.html`, source])),
    ...Object.fromEntries(
      Object.entries(GOLD).map(([name, list]) => [`data/data1/${name}.json`, JSON.stringify(list)]),
    ),
    ...Object.fromEntries(
      Object.entries(GOLD).map(([name, list], i) => [
        `data/data2/${name}.txt`,
        documents(list, i % 2 === 0 ? "." : ")"),
      ]),
    ),
    ...changes,
  };
  for (const [name, content] of Object.entries(files)) {
    if (content === undefined) continue;
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), content);
  }
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
