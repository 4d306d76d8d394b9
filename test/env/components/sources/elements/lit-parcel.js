import { css, html, LitElement } from "lit";

class StarField extends LitElement {
  static formAssociated = true;
  static properties = { label: {}, name: {}, value: { type: Number } };
  static styles = css`button { border: 0; background: none; font-size: 20px }`;
  internals = this.attachInternals();
  render() {
    return html`<div role="radiogroup" aria-label=${this.label}><span>${this.label}</span>${[1, 2, 3, 4, 5].map((n) => html`<button type="button" role="radio" aria-checked=${this.value === n} aria-label="${n} stars" @click=${() => this.pick(n)}>${n <= (this.value ?? 0) ? "★" : "☆"}</button>`)}</div>`;
  }
  pick(n) {
    this.value = n;
    this.internals.setFormValue(String(n));
  }
}
customElements.define("star-field", StarField);

class ParcelPage extends LitElement {
  static properties = { state: { state: true } };
  render() {
    if (this.state === "done") return html`<h2>Rapport envoyé</h2>`;
    return html`<form @submit=${this.send}>
      ${this.state ? html`<p role="alert">${this.state}</p>` : ""}
      <p><label>Courier <input name="courier" /></label></p>
      <p><label>Parcel number <input name="parcel" inputmode="numeric" /></label></p>
      <p><label>Week of delivery <input type="week" name="week" /></label></p>
      <star-field label="Condition" name="condition"></star-field>
      <p><label>Left with <select name="left"><option value="">–</option><option value="n">Neighbour</option><option value="s">Shop</option><option value="d">Door</option></select></label></p>
      <p><label><input type="checkbox" name="damaged" /> Damaged</label></p>
      <button>Send report</button>
    </form>`;
  }
  async send(event) {
    event.preventDefault();
    const data = Object.fromEntries(new FormData(event.target));
    const answer = await fetch(`${location.pathname}/send?${new URLSearchParams({ source: "web" })}`, { method: "POST", headers: { "content-type": "application/vnd.api+json" }, body: JSON.stringify({ report: { ...data, damaged: data.damaged === "on" } }) });
    this.state = answer.ok ? "done" : (await answer.json()).detail;
  }
}
customElements.define("parcel-page", ParcelPage);
document.getElementById("app").append(document.createElement("parcel-page"));
