/**
 * The fields of a form. Each shows its label, what it means, and what the server found wrong with
 * it. `name` is the path of its value; `also` are other names by which the server speaks of it.
 *
 * @typedef {object} FieldProps
 * @property {import("./form.js").FormState} form
 * @property {string} name
 * @property {string} label
 * @property {any} [help]
 * @property {string[]} [also]
 * @property {boolean} [disabled]
 */
import {html, useEffect} from "../ui.js";
import {icon} from "../shared/icons.js";
import {faultsOf} from "./values.js";

/** Return what all fields share: the id, what is wrong, and attributes that say so. @param {FieldProps} props */
export function fieldOf({ form, name, help, also = [] }) {
  const names = [name, ...also], id = `${form.id}-${name.replaceAll(".", "-")}`;
  useEffect(() => {
    for (const each of names) form.shown.add(each);
    return () => {
      for (const each of names) form.shown.delete(each);
      form.note(name, "");
    };
  }, [form]);
  const unfit = form.unfit.value[name];
  const faults = [...(unfit ? [unfit] : []), ...faultsOf(form.faults.value, names)];
  const described = [faults.length && `${id}-fault`, help && `${id}-help`].filter(Boolean).join(" ");
  const attributes = {
    id, name, "aria-invalid": faults.length ? "true" : undefined, "aria-describedby": described || undefined,
  };
  return { id, faults, attributes };
}

/** @param {{id: string, faults: string[], label: string, help?: any, children: any, wide?: boolean}} props */
export function Field({ id, faults, label, help, children }) {
  return html`<div class=${faults.length ? "field is-wrong" : "field"}>
    <label for=${id}>${label}</label>
    ${children}
    <${Below} id=${id} faults=${faults} help=${help} />
  </div>`;
}

/** @param {{id: string, faults: string[], help?: any}} props */
function Below({ id, faults, help }) {
  return html`
    ${faults.length > 0 && html`<p class="field-fault" id="${id}-fault">${icon("x")} ${faults.join("; ")}</p>`}
    ${help && html`<p class="field-help" id="${id}-help">${help}</p>`}`;
}

/** @param {any} event */
const said = (event) => event.currentTarget.value;

/**
 * Words. With `rows` a text of several lines.
 * @param {FieldProps & {type?: string, rows?: number, mono?: boolean, placeholder?: string,
 * autocomplete?: string, required?: boolean, suggest?: string[]}} props
 */
export function Text(props) {
  const { form, name, label, help, type = "text", rows, mono, placeholder, autocomplete = "off", suggest, disabled } = props;
  const { id, faults, attributes } = fieldOf(props);
  const shared = {
    ...attributes, placeholder, disabled, class: mono ? "in mono" : "in", autocomplete,
    value: form.get(name) ?? "", onInput: (/** @type {any} */ event) => form.set(name, said(event)),
    spellcheck: mono || type !== "text" ? false : undefined,
  };
  return html`<${Field} id=${id} faults=${faults} label=${label} help=${help}>
    ${rows ? html`<textarea ...${shared} rows=${rows}></textarea>` : html`<input ...${shared} type=${type} list=${suggest && `${id}-list`} />`}
    ${suggest && html`<datalist id="${id}-list">${suggest.map((each) => html`<option key=${each} value=${each}></option>`)}</datalist>`}
  <//>`;
}

/**
 * A number, or none: then the placeholder says what holds.
 * @param {FieldProps & {unit?: string, min?: number, max?: number, step?: number | "any", placeholder?: string}} props
 */
export function Amount(props) {
  const { form, name, label, help, unit, min, max, step = 1, placeholder, disabled } = props;
  const { id, faults, attributes } = fieldOf(props);
  const change = (/** @type {any} */ event) => {
    const { value, valueAsNumber, validity } = event.currentTarget;
    form.note(name, validity.badInput ? "must be a number" : "");
    if (!validity.badInput) form.set(name, value === "" ? undefined : valueAsNumber);
  };
  return html`<${Field} id=${id} faults=${faults} label=${label} help=${help}>
    <span class="in-unit">
      <input ...${attributes} class="in num" type="number" inputmode="decimal" min=${min} max=${max} step=${step}
        placeholder=${placeholder} disabled=${disabled} value=${form.get(name) ?? ""} onInput=${change} />
      ${unit && html`<span>${unit}</span>`}
    </span>
  <//>`;
}

/**
 * One of several. `options` are [value, label] pairs, or {label, options} groups of them.
 * @param {FieldProps & {options: any[], none?: string}} props `none`: the choice of nothing
 */
export function Choice(props) {
  const { form, name, label, help, options, none, disabled } = props;
  const { id, faults, attributes } = fieldOf(props);
  const value = form.get(name) ?? "";
  const change = (/** @type {any} */ event) => form.set(name, said(event) === "" && none !== undefined ? undefined : said(event));
  return html`<${Field} id=${id} faults=${faults} label=${label} help=${help}>
    <span class="in-pick">
      <select ...${attributes} class="in" value=${value} disabled=${disabled} onChange=${change}>
        ${none !== undefined && html`<option value="" selected=${value === ""}>${none}</option>`}
        ${options.map((each) => Array.isArray(each) ? option(each, value) : html`<optgroup key=${each.label} label=${each.label}>${each.options.map((/** @type {any} */ inner) => option(inner, value))}</optgroup>`)}
      </select>
      ${icon("down")}
    </span>
  <//>`;
}

/** @param {any[]} pair @param {any} chosen */
function option([value, label, why], chosen) {
  return html`<option key=${value} value=${value} selected=${value === chosen} disabled=${Boolean(why)}>${label}${why ? ` (${why})` : ""}</option>`;
}

/** On or off. @param {FieldProps & {inverted?: boolean}} props */
export function Switch(props) {
  const { form, name, label, help, disabled } = props;
  const { id, faults, attributes } = fieldOf(props);
  return html`<div class=${faults.length ? "field field-switch is-wrong" : "field field-switch"}>
    <label class="switch">
      <input ...${attributes} type="checkbox" role="switch" disabled=${disabled} checked=${Boolean(form.get(name))}
        onChange=${(/** @type {any} */ event) => form.set(name, event.currentTarget.checked)} />
      <span>${label}</span>
    </label>
    <${Below} id=${id} faults=${faults} help=${help} />
  </div>`;
}

/** On, off, or as it is without being said. @param {FieldProps & {usual?: string}} props */
export function YesNo(props) {
  const { form, name, label, help, usual = "not set" } = props;
  const { id, faults, attributes } = fieldOf(props);
  const value = form.get(name);
  const change = (/** @type {any} */ event) => form.set(name, { yes: true, no: false }[/** @type {"yes"} */ (said(event))]);
  return html`<${Field} id=${id} faults=${faults} label=${label} help=${help}>
    <span class="in-pick">
      <select ...${attributes} class="in" onChange=${change}>
        <option value="" selected=${value === undefined}>${usual}</option>
        <option value="yes" selected=${value === true}>on</option>
        <option value="no" selected=${value === false}>off</option>
      </select>
      ${icon("down")}
    </span>
  <//>`;
}

/** One of a few, each with what it means. @param {FieldProps & {options: [any, string, string?][], bare?: boolean}} props `bare`: the label is only said */
export function Radios(props) {
  const { form, name, label, help, options, disabled, bare } = props;
  const { id, faults, attributes } = fieldOf(props);
  const { id: _, name: __, ...described } = attributes;
  return html`<fieldset class="field opts" ...${described} disabled=${disabled}>
    <legend class=${bare ? "sr" : ""}>${label}</legend>
    ${options.map(([value, words, more]) => html`<label class="opt" key=${value}>
      <input type="radio" name=${id} checked=${form.get(name) === value} onChange=${() => form.set(name, value)} />
      <span>${words}</span>${more && html`<small>${more}</small>`}
    </label>`)}
    <${Below} id=${id} faults=${faults} help=${help} />
  </fieldset>`;
}
