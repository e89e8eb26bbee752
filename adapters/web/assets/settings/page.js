/** The parts that pages of the settings are made of. */
import {html, useState} from "../ui.js";
import {icon} from "../shared/icons.js";
import {toast} from "../shared/toast.js";
import {vendorMark} from "../shared/vendor_mark.js";

/** @param {{title: string, lead?: any, act?: any, back?: [string, string], children: any}} props `back`: path and name of the page above */
export function Page({ title, lead, act, back, children }) {
  return html`<article class="set-page" aria-label=${title}>
    ${back && html`<a class="set-up" href=${back[0]}>${icon("back")} ${back[1]}</a>`}
    <header><div><h2>${title}</h2>${lead && html`<p>${lead}</p>`}</div>${act}</header>
    ${children}
  </article>`;
}

/** @param {{title?: string, lead?: any, act?: any, children: any}} props */
export function Section({ title, lead, act, children }) {
  return html`<section class="set-part">
    ${title && html`<header><h3>${title}</h3>${act}</header>`}
    ${lead && html`<p class="set-lead">${lead}</p>`}
    ${children}
  </section>`;
}

/** What is folded away at first. @param {{title: string, open?: boolean, children: any}} props */
export function More({ title, open, children }) {
  return html`<details class="set-more" open=${open}><summary>${icon("chev")} ${title}</summary>${children}</details>`;
}

/** A row of a list. With `href` it is a link. @param {{title: any, more?: any, side?: any, href?: string, mark?: string, tags?: any, vendor?: string}} props `vendor`: whose mark stands before the title */
export function Row({ title, more, side, href, mark, tags, vendor }) {
  const inner = html`${mark !== undefined && html`<i class="cue ${mark}"></i>`}${vendor !== undefined && vendorMark(vendor)}
    <span class="item-text"><b>${title}${tags}</b>${more && html`<small>${more}</small>`}</span>`;
  return html`<li class="item">
    ${href ? html`<a class="item-main" href=${href}>${inner}</a>` : html`<div class="item-main">${inner}</div>`}
    ${side && html`<span class="item-side">${side}</span>`}
    ${href && !side && html`<span class="item-side item-go" aria-hidden="true">${icon("chev")}</span>`}
  </li>`;
}

/** @param {{children: any, empty?: string, act?: any}} props `empty` is said where there is nothing to list */
export function Rows({ children, empty, act }) {
  const hasAny = [children].flat(2).some((each) => each && each !== true);
  return hasAny ? html`<ul class="items">${children}</ul>` : html`<div class="set-empty"><p>${empty}</p>${act}</div>`;
}

/** A word about a row. @param {{tone?: string, children: any}} props */
export function Tag({ tone = "", children }) {
  return html`<span class="tag ${tone}">${children}</span>`;
}

/** @param {{tone?: string, children: any}} props */
export function Notice({ tone = "", children }) {
  return html`<div class="set-note ${tone}">${children}</div>`;
}

/** Something shown once, to be copied. @param {{label: string, value: string, children?: any}} props */
export function Once({ label, value, children }) {
  return html`<div class="set-note go set-once" role="status">
    <b>${label}</b>
    <div class="pair"><input class="in mono" readOnly value=${value} aria-label=${label} onFocus=${(/** @type {any} */ event) => event.currentTarget.select()} /><${Copy} text=${value} /></div>
    ${children}
  </div>`;
}

/** @param {{text: string}} props */
export function Copy({ text }) {
  const copy = () => navigator.clipboard.writeText(text).then(() => toast("Copied"), () => toast("The browser did not allow copying: mark it and copy by hand"));
  return html`<button type="button" class="btn" onClick=${copy}>${icon("copy")} Copy</button>`;
}

/**
 * A button that does something at once, and says beside itself what went wrong.
 * @param {{run: () => Promise<any>, class?: string, label?: string, disabled?: boolean, children: any}} props
 */
export function Act({ run, class: look = "btn", label, disabled, children }) {
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState("");
  const click = async () => {
    setBusy(true);
    setWrong("");
    try {
      await run();
    } catch (error) {
      const { message, detail, validations } = /** @type {any} */ (error);
      setWrong([message, detail || validations?.[0]?.detail].filter(Boolean).join(" "));
    }
    setBusy(false);
  };
  return html`<button type="button" class=${look} aria-label=${label} disabled=${busy || disabled} onClick=${click}>${children}</button>
    ${wrong && html`<span class="field-fault" role="alert">${wrong}</span>`}`;
}
