import assert from "node:assert/strict";
import { test } from "node:test";
import { isLogin, refusalOf } from "../../../src/env/forms/answer.js";

const J = "application/json";
const a = (
  body: unknown,
  status = 200,
  contentType = typeof body === "string" ? "text/plain" : J,
  url = "http://h/form/send",
) => ({ status, contentType, text: typeof body === "string" ? body : JSON.stringify(body), url });

const REFUSED: [unknown, ReturnType<typeof a>][] = [
  { result: "fail" },
  { success: "false" },
  { success: 0 },
  { code: 1001, msg: "invalid phone" },
  { code: 500, msg: "error" },
  { code: 400, message: "Bad request" },
  { errno: 3, errmsg: "bad" },
  { valid: false },
  { status: "failed" },
  { status: "rejected" },
  { accepted: false },
  { state: "invalid" },
  { messages: { email: ["is invalid"] } },
  { non_field_errors: ["Wrong password"] },
  [{ field: "email", message: "is invalid" }],
  { email: ["This field is required."] },
  { data: null, errors: [{ message: "x" }] },
  { data: { createUser: { ok: false } } },
  { error: true, message: "x" },
  { error: "captcha" },
  { ok: 0 },
  { status: "KO" },
  { status: "fail", data: { title: "A title is required" } },
  { type: "error", text: "no" },
  { response: { status: "ERROR" } },
  { result: { success: false } },
  { message: "Validation failed" },
  { message: "Something went wrong" },
  { status: "validation_failed" },
  { status: "mail_failed" },
  { invalid_fields: [{ field: "x" }], status: "x" },
  { issues: [{ path: ["email"], message: "Invalid" }] },
  { fieldErrors: { email: "bad" } },
  { formErrors: ["bad"] },
  { success: false },
  false,
  { status: "duplicate" },
  { status: "expired" },
  { status: "timeout" },
  { status: "blocked" },
  { d: { Success: false } },
  { IsSuccess: false },
  { hasErrors: true },
  { has_error: true },
  { isError: true },
  { failed: true },
  { result: "0", msg: "error" },
  "ERROR: missing name",
  "error",
  "fail",
  "Invalid input",
  "0",
  "false",
  "Captcha required",
  "Access denied",
  "Duplicate entry",
].map((x: unknown) => [x, a(x)]);
REFUSED.push(
  ["xml", a("<response><result>error</result></response>", 200, "text/xml")],
  ["xml2", a('<?xml version="1.0"?><r><success>false</success></r>', 200, "application/xml")],
  [
    "soapfault",
    a(
      "<s:Envelope><s:Body><s:Fault><faultcode>x</faultcode><faultstring>Bad</faultstring></s:Fault></s:Body></s:Envelope>",
      200,
      "text/xml",
    ),
  ],
  ["xmlattr", a('<rsp stat="fail"><err code="1" msg="x"/></rsp>', 200, "text/xml")],
);
for (const s of [400, 401, 403, 404, 409, 410, 413, 415, 422]) REFUSED.push([s, a("{}", s, J)]);
REFUSED.push(
  ["login", a("", 302, "text/html", "http://h/login?next=/form")],
  ["js redirect", a({ redirect: "/login" })],
  ["redirectUrl", a({ redirectUrl: "/account/signin" })],
);
const TAKEN: [unknown, ReturnType<typeof a>][] = [
  { error: null },
  { errors: [] },
  { errors: {} },
  { error: false },
  { error: "" },
  { error_count: 0 },
  { code: 0 },
  { code: "OK" },
  { code: 200, msg: "success" },
  { status: 1 },
  { status: "pending" },
  { status: "PENDING_REVIEW" },
  { status: "open" },
  { id: 1, description: "my printer failed and cannot print" },
  { message: "Thank you! If you have any problems, contact us" },
  { status: "ok" },
  { status: "queued" },
  { success: true, warnings: ["x"] },
  { success: 1 },
  { result: "success", msg: "Almost finished... please confirm your email" },
  { ok: true },
  {},
  [],
  { data: { createUser: { id: 3, errors: [] } } },
  { code: 0, data: {}, msg: "ok" },
  { errno: 0 },
  { errcode: 0 },
  { valid: true },
  { state: "draft" },
  { state: "new" },
  { ticket: { id: 3, status: "new", priority: "high", type: "problem" } },
  { ticket: { type: "error report", state: "open" } },
  { id: 3, errorReporting: true },
  { id: 3, type: "bug", severity: "error" },
  { user: { email: "a@b", emailVerified: false, active: false } },
  { subscribed: true, confirmed: false },
  { id: 9, paid: false, shipped: false },
  { isValid: true, errors: null },
  { errors: 0 },
  { failures: 0 },
  { message: "Your message was sent successfully. We will reply if required." },
  { message: "Created" },
  { next: "/account" },
  { status: 201 },
  { statusCode: 200, body: "x" },
  { hasErrors: false },
  { failed: false },
  { failed: 0, succeeded: 1 },
  { required: true },
  { status: { code: 0, message: "OK" } },
  { status: "in_progress" },
  { level: "info", message: "We got it, thanks." },
  { problem: "leak in the roof", id: 3 },
  { reason: "I cannot come on Friday", id: 4, status: "received" },
  { description: "missing parts", order: 4 },
  { id: 5, message: "I can't open the door, please try again to help me" },
  { id: 6, detail: "The lamp is wrong" },
  "OK",
  "1",
  "true",
  "success",
  "Thank you",
  "",
  "Your form has been received. No errors.",
  "Message sent",
  "done",
  "42",
  "id=3",
  "a3f9c1",
].map((x: unknown) => [x, a(x)]);
TAKEN.push(
  ["xml", a("<response><result>ok</result></response>", 200, "text/xml")],
  ["204", a("", 204)],
  ["201", a("", 201)],
  ["errors 0 xml", a("<r><errors></errors><id>3</id></r>", 200, "text/xml")],
);

test("what servers answer where they refuse", () => {
  for (const [name, answer] of REFUSED) assert.ok(refusalOf(answer, []) !== undefined, JSON.stringify(name));
});

test("what servers answer where they take a form", () => {
  for (const [name, answer] of TAKEN) assert.equal(refusalOf(answer, []), undefined, JSON.stringify(name));
});

test("what was sent and comes back is no refusal", () => {
  const posted = [["t", "Login fails with an error"]] as const;
  assert.equal(refusalOf(a({ issue: { title: "Login fails with an error", state: "open" } }), posted), undefined);
});

test("a login is told by a whole part of an address, and a form may be one itself", () => {
  for (const path of ["/login", "/users/sign_in?next=/", "/wp-login.php", "/sso", "/auth", "/account/log-in/"])
    assert.ok(isLogin(`http://h${path}`), path);
  for (const path of ["/auth/register", "/blog/login-trouble-solved", "/loginname", "/signs"])
    assert.ok(!isLogin(`http://h${path}`), path);
  assert.equal(refusalOf(a("", 200, "text/html", "http://h/login"), [], "http://h/login"), undefined);
});
