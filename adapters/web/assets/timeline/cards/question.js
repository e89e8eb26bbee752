// Questions of the agent: a form while it is the latest thing said, afterwards the answers.

import { html, memo, useEffect, useState } from "../../ui.js";
import { isTyping, letters } from "../../keys.js";
import { icon } from "../../shared/icons.js";
import { Button } from "../controls.js";
import { clipped } from "./big_text.js";

/** @typedef {import("./frame.js").Card} Card @typedef {import("./frame.js").Call} Call */
/** @typedef {import("./frame.js").At} At */
/** @typedef {{header: string, question: string, options: {label: string, description?: string}[]}} Question */

const OTHER = -1;

/** @param {Call} call @returns {Question[]} */
export function questionsOf(call) {
  const asked = call.result?.questions ?? call.args.questions;
  if (!Array.isArray(asked)) return [];
  return asked
    .filter((each) => each && typeof each === "object")
    .map(({ header, question, options }) => ({
      header: clipped(header),
      question: clipped(question),
      options: (Array.isArray(options) ? options : [])
        .filter((option) => option?.label)
        .map(({ label, description }) => ({ label: clipped(label), description: clipped(description) })),
    }));
}

/**
 * Return the message that answers questions: the words alone for one, each with its question else.
 * @param {readonly Question[]} questions
 * @param {readonly string[]} answers
 */
export function answerText(questions, answers) {
  if (questions.length === 1) return answers[0];
  return questions.map(({ question }, i) => `${question}\n${answers[i]}`).join("\n\n");
}

/**
 * Return what was answered, read back from the user's next message; null: it was another matter.
 * @param {readonly Question[]} questions
 * @param {string} text
 */
export function answersIn(questions, text) {
  if (!text) return null;
  if (questions.length === 1) return [text.trim()];
  const parts = questions.map(({ question }, i) => {
    const from = text.indexOf(`${question}\n`);
    const next = questions[i + 1] ? text.indexOf(`\n\n${questions[i + 1].question}\n`) : text.length;
    return from < 0 || next < from ? null : text.slice(from + question.length + 1, next).trim();
  });
  return parts.every((part) => part !== null) ? /** @type {string[]} */ (parts) : null;
}

/** @param {{call: Call, at: At}} props */
export const Questions = memo(({ call, at }) => {
  const questions = questionsOf(call);
  const isAsked = call.state === "done" && call.latest && !at.readonly;
  if (!questions.length) return null;
  if (call.running || isAsked) return html`<${Form} call=${call} at=${at} questions=${questions} />`;
  return html`<${Answered} call=${call} questions=${questions} />`;
});

/** @param {{call: Call, questions: readonly Question[]}} props */
function Answered({ call, questions }) {
  const answers = answersIn(questions, call.after);
  return html`<section class="card" aria-label="Questions" data-call=${call.key}>
    ${questions.map(
      ({ question, options }, i) => html`<header class="asked">${icon("q")}<b>${question}</b></header>
        <div class="in">
          ${answers ? html`<p class="answer">${icon("check")}<span>${answers[i]}</span></p>` : html`<p class="quiet">${call.after ? "Answered in other words, below." : "Not answered."} The choices were: ${options.map((option) => option.label).join(", ")}.</p>`}
        </div>`,
    )}
  </section>`;
}

/** @param {{call: Call, at: At, questions: readonly Question[]}} props */
function Form({ call, at, questions }) {
  const { draft, place, go, answerOf, next, choose, fault, busy } = useAnswers(call, at, questions);
  const { question, header, options } = questions[place];
  const isLast = place === questions.length - 1;
  const name = `${call.key}.${place}`;
  const isOpen = call.state === "done";
  useDigits(isOpen && call.latest && at.isCurrent(), options.length + 1, name);
  return html`<form class="card question" data-call=${call.key} data-question=${isOpen ? "open" : "comes"} aria-label="Question" tabindex="-1" onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), next())}>
    <header>${icon("q")}<b>${question || header}</b><span class="r">${questions.length > 1 && `${place + 1} of ${questions.length}`}</span></header>
    <div class="in">
      <${Options} key=${place} name=${name} options=${options} draft=${draft} place=${place} choose=${choose} legend=${question} />
      ${fault && html`<p class="bad" role="alert">${fault}</p>`}
    </div>
    <footer>
      <button class="btn main" disabled=${busy || call.running || !answerOf(place)}>${isLast ? "Answer" : "Next"}</button>
      ${place > 0 && html`<${Button} label="Back" onClick=${() => go(place - 1)} />`}
    </footer>
  </form>`;
}

/**
 * The answers as far as they are given, kept while the card is out of sight.
 * @param {Call} call
 * @param {At} at
 * @param {readonly Question[]} questions
 */
function useAnswers(call, at, questions) {
  const draft = at.draft(`question.${call.key}`);
  draft.chosen ??= [];
  draft.words ??= [];
  const [place, setPlace] = useState(Math.min(draft.place ?? 0, questions.length - 1));
  const [, redraw] = useState(0);
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const go = (/** @type {number} */ to) => setPlace((draft.place = to));
  const answerOf = (/** @type {number} */ i) =>
    draft.chosen[i] === OTHER ? (draft.words[i] ?? "").trim() : (questions[i].options[draft.chosen[i]]?.label ?? "");
  const send = async () => {
    setBusy(true);
    try {
      await at.do("question.answer", { call: call.id, text: answerText(questions, questions.map((_, i) => answerOf(i))) });
    } catch (error) {
      setFault(/** @type {any} */ (error)?.message ?? String(error));
      setBusy(false);
    }
  };
  const next = () => answerOf(place) && (place === questions.length - 1 ? send() : go(place + 1));
  const choose = (/** @type {number} */ i) => {
    draft.chosen[place] = i;
    redraw((n) => n + 1);
  };
  return { draft, place, go, answerOf, next, choose, fault, busy };
}

/**
 * Choose answers by 1 to 9, as long as nobody is typing.
 * @param {boolean} isOn
 * @param {number} count
 * @param {string} name of the radio buttons
 */
function useDigits(isOn, count, name) {
  useEffect(() => {
    if (!isOn) return undefined;
    const onKey = (/** @type {KeyboardEvent} */ event) => {
      const n = Number(event.key);
      if (!(n >= 1 && n <= Math.min(count, 9)) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (!letters.on || isTyping(event.target) || event.defaultPrevented) return;
      const radio = document.querySelector(`input[name="${CSS.escape(name)}"][data-key="${n}"]`);
      if (!(radio instanceof HTMLInputElement)) return;
      event.preventDefault();
      radio.focus();
      radio.click();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [isOn, count, name]);
}

/** @param {{name: string, options: Question["options"], draft: any, place: number, choose: (i: number) => void, legend: string}} props */
function Options({ name, options, draft, place, choose, legend }) {
  const chosen = draft.chosen[place];
  const option = (/** @type {number} */ i, /** @type {any} */ label, /** @type {string} */ says, /** @type {number} */ key) =>
    html`<label class="opt" key=${i}>
      <input type="radio" name=${name} data-key=${key} checked=${chosen === i} onChange=${() => choose(i)} />
      <span>${label}</span><kbd>${key}</kbd>${says && html`<small>${says}</small>`}
    </label>`;
  return html`<fieldset class="opts">
    <legend class="sr">${legend}</legend>
    ${options.map(({ label, description = "" }, i) => option(i, label, description, i + 1))}
    ${option(OTHER, "Something else…", "", options.length + 1)}
    ${chosen === OTHER &&
    html`<textarea
      rows="2"
      aria-label="Your answer"
      defaultValue=${draft.words[place] ?? ""}
      ref=${(/** @type {any} */ field) => field && !field.dataset.seen && ((field.dataset.seen = "1"), field.focus())}
      onInput=${(/** @type {any} */ event) => {
        draft.words[place] = event.currentTarget.value;
        choose(OTHER);
      }}
    ></textarea>`}
  </fieldset>`;
}

/** @type {Card} */
export const askUser = {
  names: ["ask_user_question"],
  icon: "q",
  kind: "tools",
  line: (call) => [call.failed ? "Could not ask you" : "Asks you", questionsOf(call)[0]?.question ?? ""],
  view: (call, at) => (call.failed || call.state === "interrupted" ? null : html`<${Questions} call=${call} at=${at} />`),
};
