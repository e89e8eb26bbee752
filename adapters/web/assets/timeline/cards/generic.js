// Tools that have no card of their own: those of servers, the client's own, and unknown ones.

import { html } from "../../ui.js";
import { textOf } from "../calls.js";
import { firstLine, humanised, shortened } from "../words.js";
import { BigText } from "./big_text.js";
import { said } from "./frame.js";
import { Tree } from "./tree.js";

/** @typedef {import("./frame.js").Card} Card @typedef {import("./frame.js").Call} Call */
/** @typedef {import("./frame.js").At} At */

const INNER = "model_intent";
const SHOWN = /^(image\/(png|jpeg|gif|webp))$/;

/** @param {Call} call @param {At} at */
function line(call, at) {
  const { name, tool } = at.server(call);
  const does = call.intent || humanised(tool);
  if (name) return [name, `· ${does}`];
  return [said(call, `Using ${humanised(tool)}`, `Used ${humanised(tool)}`, `${humanised(tool)} failed`), call.intent || mainArgument(call)];
}

/** The argument that says most: the first short text. @param {Call} call */
function mainArgument(call) {
  const args = innerArgs(call);
  const text = Object.values(args).find((value) => typeof value === "string" && value.length < 200);
  return text ? shortened(firstLine(text), 80) : "";
}

/** The arguments without the wrapping by which a model says what it is about. @param {Call} call */
export function innerArgs(call) {
  const { [INNER]: intent, ...rest } = call.args;
  const inner = intent !== undefined && rest.properties;
  return inner && typeof inner === "object" ? inner : rest;
}

/** @param {Call} call @param {At} at */
function body(call, at) {
  const args = innerArgs(call);
  return html`${Object.keys(args).length > 0 && html`<h5>Asked with</h5><div class="in"><${Tree} value=${args} /></div>`}
  ${call.state === "writing" && !Object.keys(args).length && call.argsText && html`<${BigText} text=${call.argsText} />`}
  ${call.state === "waits" && html`<${Waits} call=${call} at=${at} />`}
  ${resultView(call)}`;
}

/** @param {Call} call */
export function resultView(call) {
  const { result } = call;
  if (result === undefined) return call.resultText && html`<${BigText} text=${call.resultText} form="term" />`;
  if (call.failed) return null;
  if (call.media) return media(result);
  if (typeof result === "object" && result !== null && !isText(result)) {
    return html`<h5>Answered</h5><div class="in"><${Tree} value=${result} /></div>`;
  }
  const text = textOf(result);
  return html`<h5>Answered</h5>
    ${text ? html`<${BigText} text=${text} form="term" />` : html`<p class="in quiet">Nothing.</p>`}`;
}

/** @param {object} result */
const isText = (result) => {
  const names = Object.keys(result);
  return names.length === 1 && typeof Reflect.get(result, names[0]) === "string" && names[0] === "output";
};

/** @param {any} result */
function media(result) {
  const { mime_type: type = "", data = "", text = "", attachment_file_id: file } = result ?? {};
  const shown = SHOWN.test(type);
  return html`${text && html`<p class="in">${text}</p>`}
  ${shown && data && html`<${DataImage} data=${data} type=${type} />`}
  ${!shown && html`<p class="in quiet">${type || "a file"}, which cannot be shown here${file ? "; it is among the files of the chat" : ""}.</p>`}`;
}

/** A picture that came inside a result. @param {{data: string, type: string, alt?: string}} props */
export function DataImage({ data, type, alt = "What the tool returned" }) {
  const show = (/** @type {HTMLImageElement | null} */ img) => {
    if (img && !img.src) img.src = URL.createObjectURL(blobOf(data, type));
  };
  const done = (/** @type {any} */ event) => URL.revokeObjectURL(event.currentTarget.src);
  return html`<img class="shot" ref=${show} onLoad=${done} onError=${done} alt=${alt} />`;
}

/** @param {string} data in base64 @param {string} type */
function blobOf(data, type) {
  try {
    return new Blob([Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0))], { type });
  } catch {
    return new Blob([], { type });
  }
}

/** A call that the client has to answer itself. @param {{call: Call, at: At}} props */
function Waits({ call, at }) {
  const draft = at.draft(call.key);
  const onInput = (/** @type {any} */ event) => {
    event.currentTarget.setCustomValidity("");
    draft.answer = event.currentTarget.value;
  };
  return html`<p class="in quiet">A program that follows this chat is to answer this call.</p>
    ${!at.readonly &&
    html`<details class="long">
      <summary>Answer it yourself, as JSON</summary>
      <form class="in" onSubmit=${(/** @type {any} */ event) => sendAnswer(event, call, at)}>
        <textarea name="answer" rows="3" aria-label="The answer, as JSON" class="mono" onInput=${onInput} defaultValue=${draft.answer ?? ""}></textarea>
        <button class="btn main">Answer</button>
      </form>
    </details>`}`;
}

/** @param {any} event @param {Call} call @param {At} at */
async function sendAnswer(event, call, at) {
  event.preventDefault();
  const field = event.currentTarget.elements.answer;
  try {
    await at.do("call.answer", { call: call.id, output: JSON.parse(field.value) });
  } catch (error) {
    field.setCustomValidity(error instanceof SyntaxError ? "This is no JSON" : String(error));
    field.reportValidity();
  }
}

/** @type {Card} */
export const generic = {
  names: [],
  icon: "plug",
  kind: "tools",
  line,
  news: (call) => call.state === "waits",
  body,
  question: "May I use this tool?",
  ask: (call) => html`<div class="in"><${Tree} value=${innerArgs(call)} /></div>`,
};
