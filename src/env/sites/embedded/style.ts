/** The one style sheet of all pages. */
export const STYLE = `
:root { --ink: #1f2a37; --soft: #5b6776; --line: #cfd7e1; --brand: #1d6b5a; --paper: #fff; --ground: #f1f4f3; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", sans-serif; }
header.site { background: var(--brand); color: #fff; padding: .75rem 1.5rem; }
header.site a { color: inherit; text-decoration: none; font-weight: 600; }
main { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
.card { background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; padding: 1.5rem 2rem 2rem; }
h1 { margin: 0; font-size: 1.7rem; }
.intro { margin: .25rem 0 1.5rem; color: var(--soft); }
form { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1rem 1.5rem; }
.field { min-width: 0; }
.field.wide, .actions { grid-column: 1 / -1; }
.field > label, .caption, legend, .field > h4 { display: block; margin: 0 0 .25rem; padding: 0; font-size: 1rem; font-weight: 600; }
.star { color: #b3261e; }
input:not([type=checkbox], [type=radio]), select, textarea {
  display: block; width: 100%; padding: .5rem .65rem; border: 1px solid var(--line); border-radius: .35rem;
  background: #fff; color: inherit; font: inherit; }
.field > label > input:not([type=checkbox]) { margin-top: .25rem; font-weight: 400; }
textarea { min-height: 5rem; resize: vertical; }
fieldset { margin: 0; padding: 0; border: 0; }
.choice { display: inline-flex; align-items: center; gap: .45rem; margin: 0 1.1rem .2rem 0; }
.field:has(> .choice) { align-self: end; padding-bottom: .4rem; }
.field > label.choice { display: inline-flex; }
input[type=checkbox], input[type=radio] { width: 1.1rem; height: 1.1rem; accent-color: var(--brand); }
:focus-visible { outline: 2px solid var(--brand); outline-offset: 1px; }
button { padding: .6rem 1.6rem; border: 0; border-radius: .35rem; background: var(--brand); color: #fff; font: inherit;
  font-weight: 600; cursor: pointer; }
button:hover { background: #15503f; }
[role=status] { margin: 1rem 0 0; font-weight: 600; }
.domains { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1rem; }
.domains h2 { margin: 0 0 .4rem; font-size: 1.1rem; text-transform: capitalize; }
.domains ul { margin: 0; padding: 0; list-style: none; }
.domains a { color: var(--brand); }
.domains .aside { color: var(--soft); font-size: .85rem; }
`;
