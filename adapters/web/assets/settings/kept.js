/** A choice that this browser keeps; it holds as soon as it is made. */
import {html, useState} from "../ui.js";
import {preferences} from "../preferences.js";

/**
 * `holds`: what holds now, where that is not what was chosen.
 * @param {{name: string, label: string, options: any[][], help?: any, change?: (value: any) => any, holds?: any}} props
 */
export function Kept({ name, label, options, help, change, holds }) {
  const held = preferences[name];
  const [, setTimes] = useState(0);
  const choose = async (/** @type {any} */ value) => {
    await (change ? change(value) : (held.value = value));
    setTimes((times) => times + 1); // a choice that did not come to hold is shown no longer
  };
  const chosen = holds ?? held.value;
  return html`<div class="kept" role="group" aria-label=${label}>
    <span class="kept-name" aria-hidden="true">${label}</span>
    <div class="seg">${options.map(([value, words]) => html`<label key=${value}>
      <input class="sr" type="radio" name="kept-${name}" checked=${chosen === value} onChange=${() => choose(value)} /><span>${words}</span>
    </label>`)}</div>
    ${help && html`<p class="field-help">${help}</p>`}
  </div>`;
}
