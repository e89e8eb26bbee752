/** A choice that this browser keeps; it holds as soon as it is made. */
import {html} from "../ui.js";
import {preferences} from "../preferences.js";

/** @param {{name: string, label: string, options: any[][], help?: any, change?: (value: any) => any}} props */
export function Kept({ name, label, options, help, change }) {
  const held = preferences[name];
  const choose = (/** @type {any} */ value) => (change ? change(value) : (held.value = value));
  return html`<fieldset class="kept">
    <legend>${label}</legend>
    <div class="seg">${options.map(([value, words]) => html`<label key=${value}>
      <input class="sr" type="radio" name="kept-${name}" checked=${held.value === value} onChange=${() => choose(value)} /><span>${words}</span>
    </label>`)}</div>
    ${help && html`<p class="field-help">${help}</p>`}
  </fieldset>`;
}
