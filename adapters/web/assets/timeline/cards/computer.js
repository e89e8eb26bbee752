// A desktop that is operated: what was done, in words, and what the screen showed then.

import { html, useEffect } from "../../ui.js";
import { actionsOf, actionWords, callWords } from "../computer_words.js";
import { BigText, clipped } from "./big_text.js";
import { DataImage } from "./generic.js";

/** @typedef {import("./frame.js").Card} Card @typedef {import("./frame.js").Call} Call @typedef {import("./frame.js").At} At */

const SHOWN = /^image\/(png|jpeg|webp)$/;

/** @type {Card} */
export const computer = {
  names: ["computer"],
  icon: "screen",
  kind: "tools",
  readsWhole: true,
  line: (call) => [callWords(call.args)],
  facts: (call) => (warnings(call).length ? [html`<span class="tag">warned</span>`] : []),
  body: (call, at) => html`<${Steps} call=${call} /><${Picture} call=${call} at=${at} />`,
  question: "May I do this on the desktop?",
  ask: (call) => html`<${Steps} call=${call} always />`,
};

/** The actions one by one, where there is more to them than the line says. @param {{call: Call, always?: boolean}} props */
function Steps({ call, always }) {
  const actions = actionsOf(call.args);
  const typed = actions.filter((each) => (each.action ?? each.type) === "type" && String(each.text ?? "").length > 80);
  return html`${warnings(call).map((warning) => html`<p class="in warn">The provider warned: ${clipped(warning, 300)}</p>`)}
    ${actions.length > 1 || always ? html`<ol class="plainlist">${actions.slice(0, 64).map((each) => html`<li>${actionWords(each)}</li>`)}</ol>` : null}
    ${typed.map((each) => html`<${BigText} text=${String(each.text)} />`)}`;
}

/** The screen after it: a file of the chat, or the picture in the result, which is read whole for it. @param {{call: Call, at: At}} props */
function Picture({ call, at }) {
  const { data, mime_type: type, text, attachment_file_id: file, attachment_name: name = "the screen" } = call.result ?? {};
  const isLeftOut = Boolean(call.cutBytes && call.home && !file);
  useEffect(() => void (isLeftOut && at.do("message.whole", { message: call.home })), [isLeftOut, call.home]);
  const words = typeof text === "string" && text && !warnings(call).length && html`<p class="in quiet">${clipped(text, 300)}</p>`;
  if (typeof file === "string" && file) {
    const href = at.href(file);
    const show = () => at.do("file.show", { part: { type: "file", name, media_type: type }, href });
    return html`${words}<button type="button" class="pic wide" aria-label="Show the screen" onClick=${show}><img class="shot" src=${href} alt="The screen after it" loading="lazy" decoding="async" /></button>`;
  }
  if (isLeftOut) return html`${words}<p class="in quiet">Loading the screen…</p>`;
  if (call.cutBytes || typeof data !== "string" || !SHOWN.test(type)) return words || null;
  return html`${words}<${DataImage} data=${data} type=${type} alt="The screen after it" />`;
}

/** What the provider thinks may be wrong with it. @param {Call} call @returns {string[]} */
function warnings({ args }) {
  const checks = Array.isArray(args.pending_safety_checks) ? args.pending_safety_checks : [];
  return checks.map((check) => String(check?.message ?? check?.code ?? "")).filter(Boolean);
}
