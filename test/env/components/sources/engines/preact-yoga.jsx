/** @jsxImportSource preact */
import { render } from "preact";
import { useState } from "preact/hooks";

const SEND = `${location.pathname}/send`;
function Yoga() {
  const [v, set] = useState({ who: "", mat: "", day: "", level: 1, aches: [], first: false });
  const [state, setState] = useState("");
  const put = (part) => set((old) => ({ ...old, ...part }));
  async function send(event) {
    event.preventDefault();
    const query = `mutation Join($who: String!, $input: ClassInput!) { join(who: $who, input: $input) { ok } }`;
    const { who, ...input } = v;
    const answer = await (await fetch(SEND, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify([{ query, variables: { who, input } }]) })).json();
    setState(answer[0].data?.join?.ok ? "ok" : "no");
  }
  if (state === "ok") return <p>نراكم قريبا</p>;
  return (
    <form onSubmit={send}>
      <h1>Yoga class</h1>{state && <p class="error">بيانات ناقصة</p>}
      <p><label for="who">Participant</label> <input id="who" value={v.who} onInput={(e) => put({ who: e.currentTarget.value })} /></p>
      <p><label for="day">Class day</label> <input id="day" list="days" value={v.day} onInput={(e) => put({ day: e.currentTarget.value })} /><datalist id="days"><option value="Tuesday" /><option value="Thursday" /><option value="Sunday" /></datalist></p>
      <div><span id="ml">Mat</span><div role="listbox" aria-labelledby="ml" tabIndex={0}>{["Rent one", "Bring my own", "Buy one"].map((m, i) => <div key={m} role="option" aria-selected={v.mat === `m${i}`} onClick={() => put({ mat: `m${i}` })} style={v.mat === `m${i}` ? "background: gold" : ""}>{m}</div>)}</div></div>
      <p>Level <button type="button" aria-label="Lower level" onClick={() => put({ level: Math.max(1, v.level - 1) })}>−</button> <output>{v.level}</output> <button type="button" aria-label="Raise level" onClick={() => put({ level: v.level + 1 })}>+</button></p>
      <fieldset><legend>Aches</legend>{["Back", "Knees", "Neck"].map((a) => <label key={a}><input type="checkbox" onChange={(e) => put({ aches: e.currentTarget.checked ? [...v.aches, a] : v.aches.filter((x) => x !== a) })} /> {a}</label>)}</fieldset>
      <p><label><input type="checkbox" checked={v.first} onChange={(e) => put({ first: e.currentTarget.checked })} /> My first class</label></p>
      <button>Join class</button>
    </form>
  );
}
render(<Yoga />, document.getElementById("app"));
