import type { Idioms } from "./idiom.js";

/** Controls by all that a person may call them. */
export const NAMED: Idioms = {
  "placeholder only below a heading": {
    html: `<h2>Contact us</h2><form method=post action=send><input name=a placeholder="Your name"><input name=b placeholder="Your e-mail" type=email><textarea name=c placeholder="Message"></textarea><button>Send</button></form>`,
    fields: { "Your name": "Ann Lee", "Your e-mail": "ann@post.example", Message: "Hello there" },
  },
  "help inside the label": {
    html: `<form method=post action=send><label>Email <small>We never share it.</small><input name=a></label><label>Age<span class=hint>In years</span><input name=b></label><button>Send</button></form>`,
    fields: { Email: "ann@post.example", Age: "41" },
  },
  "visible label and another aria-label": {
    html: `<form method=post action=send><label for=x>Email</label><input id=x name=a aria-label="Your e-mail address"><label for=y>Age</label><input id=y name=b aria-label="Age in years"><button>Send</button></form>`,
    fields: { Email: "ann@post.example", Age: "41" },
  },
  "floating labels behind their inputs": {
    html: `<form method=post action=send><div class=form-floating><input id=x name=a placeholder=" "><label for=x>City</label></div><div class=form-floating><input id=y name=b placeholder=" "><label for=y>Street</label></div><button>Send</button></form>`,
    fields: { City: "Lund", Street: "Moss Lane" },
  },
  "labels behind their inputs without for": {
    html: `<form method=post action=send><div class=g><input name=a required><span class=bar></span><label>City</label></div><div class=g><input name=b required><span class=bar></span><label>Street</label></div><button>Send</button></form>`,
    fields: { City: "Lund", Street: "Moss Lane" },
  },
  "labels in the row above": {
    html: `<form method=post action=send><table><tr><td>First</td><td>Last</td></tr><tr><td><input name=a></td><td><input name=b></td></tr></table><button>Send</button></form>`,
    fields: { First: "Ann", Last: "Lee" },
  },
  "labels in the table's head": {
    html: `<form method=post action=send><table><thead><tr><th>Item</th><th>Quantity</th><th>Note</th></tr></thead><tbody><tr><td><input name="i[]"></td><td><input type=number name="q[]"></td><td><input name="t[]"></td></tr></tbody></table><button>Send</button></form>`,
    fields: { Item: "Lamp", Quantity: 3, Note: "green" },
  },
  "rows and columns name a field": {
    html: `<form method=post action=send><table><thead><tr><th></th><th>Open</th><th>Close</th></tr></thead><tbody><tr><th>Monday</th><td><input name=a></td><td><input name=b></td></tr><tr><th>Tuesday</th><td><input name=c></td><td><input name=d></td></tr></tbody></table><button>Send</button></form>`,
    fields: { "Monday Open": "08:00", "Monday Close": "17:00", "Tuesday Open": "09:00", "Tuesday Close": "16:30" },
  },
  "labels by two ids": {
    html: `<form method=post action=send><h3 id=b>Billing</h3><span id=l1>Street</span><input name=a aria-labelledby="b l1"><h3 id=s>Shipping</h3><span id=l2>Street</span><input name=b aria-labelledby="s l2"><button>Send</button></form>`,
    fields: { "Billing Street": "Moss Lane 1", "Shipping Street": "Fern Road 2" },
  },
  "same labels below headings": {
    html: `<form method=post action=send><h3>Billing address</h3><label>Street <input name=a></label><label>City <input name=b></label><h3>Shipping address</h3><label>Street <input name=c></label><label>City <input name=d></label><button>Send</button></form>`,
    fields: {
      "Billing address Street": "Moss Lane 1",
      "Billing address City": "Lund",
      "Shipping address Street": "Fern Road 2",
      "Shipping address City": "Oslo",
    },
  },
  "list that says itself what it is": {
    html: `<form method=post action=send><input name=n placeholder=Name><select name=c><option value="" disabled selected>Country</option><option value=se>Sweden</option><option value=no>Norway</option></select><button>Send</button></form>`,
    fields: { Name: "Ann", Country: "Norway" },
  },
  "definition list": {
    html: `<form method=post action=send><dl><dt>Name</dt><dd><input name=a></dd><dt>Age</dt><dd><input name=b></dd></dl><button>Send</button></form>`,
    fields: { Name: "Ann", Age: "41" },
  },
  "columns of a grid": {
    html: `<form method=post action=send><div class=row><div class=col><label>Name</label></div><div class=col><input name=a></div></div><div class=row><div class=col><label>Age</label></div><div class=col><input name=b></div></div><button>Send</button></form>`,
    fields: { Name: "Ann", Age: "41" },
  },
  "counter in the label": {
    html: `<form method=post action=send id=f><label>Bio (<span id=c>0</span>/200) <textarea name=a></textarea></label><label>Age <input name=b></label><button>Send</button></form><script>f.a.oninput = () => { c.textContent = f.a.value.length }</script>`,
    fields: { Bio: "I like moss.", Age: "41" },
  },
  "title only": {
    html: `<form method=post action=send><input name=a title="First name"><input name=b title="Last name"><button>Send</button></form>`,
    fields: { "First name": "Ann", "Last name": "Lee" },
  },
};
