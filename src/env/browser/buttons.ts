import { normalizeLabel } from "../forms/normalize.js";
import { type Control, mainForm, type ReadForm } from "./controls.js";

/** Words at the beginning of a button's text, in the languages of most of the web's forms. */
const words = (list: string): RegExp => new RegExp(`^(?:${list})(?![\\p{L}\\p{N}])`, "iu");

/** What sends a form, what leads on in it, and what does neither. */
export const SUBMIT_LABEL = words(
  [
    "submit|send|save|apply|register|continue|sign ?up|book|order|confirm|create|join|next|finish|done|request|check ?out|pay|reserve|publish|post|place|complete|yes|agree|get started|go|let['\u2019]?s go|update|vote|donate|buy|schedule|enrol+|contact us|get (?:a |my |your )?(?:quote|started)|reply|comment|subscribe|log ?in|sign ?in|search|calculate|start",
    "absenden|senden|abschicken|speichern|weiter|anmelden|registrieren|bestellen|buchen|best\u00e4tigen|fertig|kaufen",
    "envoyer|valider|soumettre|enregistrer|continuer|suivant|s['\u2019]inscrire|commander|r\u00e9server|confirmer|terminer",
    "enviar|guardar|aceptar|continuar|siguiente|registrarse|registrar|reservar|confirmar|finalizar|salvar|concluir|pr\u00f3ximo|cadastrar",
    "invia|inviare|salva|avanti|conferma|continua|registrati|prenota|verzenden|versturen|opslaan|volgende|bevestigen|aanmelden|skicka|spara|forts\u00e4tt|n\u00e4sta|registrera|boka|send inn|lagre|neste|gem|n\u00e6ste|l\u00e4het\u00e4|tallenna|wy\u015blij|zapisz|dalej|zarejestruj|odeslat|ulo\u017eit|k\u00fcld\u00e9s|ment\u00e9s|g\u00f6nder|kaydet|devam",
    "\u043e\u0442\u043f\u0440\u0430\u0432\u0438\u0442\u044c|\u0441\u043e\u0445\u0440\u0430\u043d\u0438\u0442\u044c|\u0434\u0430\u043b\u0435\u0435|\u043f\u0440\u043e\u0434\u043e\u043b\u0436\u0438\u0442\u044c|\u0433\u043e\u0442\u043e\u0432\u043e|\u9001\u4fe1\u3059\u308b|\u9001\u4fe1|\u4fdd\u5b58|\u767b\u9332|\u78ba\u8a8d|\u6b21\u3078|\u63d0\u4ea4|\u53d1\u9001|\u786e\u5b9a|\u786e\u8ba4|\u4e0b\u4e00\u6b65|\uc81c\ucd9c|\uc800\uc7a5|\ubcf4\ub0b4\uae30|\ud655\uc778|\ub2e4\uc74c",
  ].join("|"),
);
const OTHER_LABEL =
  /\b(?:draft|cancel|reset|clear|back|previous|close|delete|remove|preview|later|skip|search|log ?in|sign ?in|log ?out|browse|upload|help|show|hide|edit|print|share|copy|dismiss|decline|reject|subscribe|newsletter|another|more|today|check availability|verify|coupon|promo|discount|abbrechen|zur\u00fcck|annuler|retour|cancelar|volver|annulla|indietro|annuleren|terug|avbryt|tillbaka|anuluj|wstecz)\b|^add\b|^(?:\u043e\u0442\u043c\u0435\u043d\u0430|\u043d\u0430\u0437\u0430\u0434|\u53d6\u6d88|\u30ad\u30e3\u30f3\u30bb\u30eb|\u8fd4\u56de|\ucde8\uc18c)|^[+\u2212\u2013\u00d7x<>\u2039\u203a-]$/i;
export const NEXT_LABEL =
  /^(?:next|continue|proceed|go on|save (?:and|&) (?:continue|next)|step \d|weiter|suivant|siguiente|avanti|volgende|n\u00e4sta)\b|^(?:\u2192|\u203a|>)$/i;

type Buttons = Pick<ReadForm, "buttons"> & { readonly controls?: readonly Control[] };

/**
 * The button that sends the task's form, else the form with the most controls; a scripted one is known by what it says,
 * and where none says it, by its place: the last one behind the fields.
 */
export function submitButton(form: Buttons): number | undefined {
  const main = form.controls === undefined ? undefined : mainForm({ controls: form.controls });
  let best: number | undefined;
  let bestRank = 0;
  form.buttons.forEach((button, i) => {
    const label = normalizeLabel(button.label);
    const says = SUBMIT_LABEL.test(label);
    const other = OTHER_LABEL.test(label) && !/^(?:submit|send)\b/i.test(label);
    const own = button.form === main;
    // on a page for it `Log in` or `Search` does send the form
    const sends = says && (!other || (own && button.after > 0));
    let rank = button.submits ? 4 + Math.min(button.formControls, 50) * 2 + (says ? 2 : 0) : sends ? 3 : 0;
    if (rank === 0 && button.primary && own) rank = 1;
    if (rank === 0 && own && button.plain && button.after > 0 && !other && !button.opens) rank = 0.1;
    if (rank === 0) return;
    if (main !== undefined && main >= 0 && button.form === main) rank += 200;
    // of a page without forms, the first one behind the fields
    if (main === -1 && button.form === -1) rank += 100 + (button.after > 0 ? 5 : 0);
    if (button.primary) rank += 1;
    if (NEXT_LABEL.test(label)) rank -= 0.5;
    // a button beside one field of several is that field's
    if (button.inline) rank -= 3;
    if (button.opens) rank -= 150;
    if (other) rank -= 300;
    if (best === undefined || rank > bestRank || (rank === bestRank && rank % 1 !== 0 && !says)) {
      best = i;
      bestRank = rank;
    }
  });
  return best;
}
