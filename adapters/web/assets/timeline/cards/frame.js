// The form that calls of tools have in common: one line that opens into a card.

import { html, memo, useState } from "../../ui.js";
import { icon } from "../../shared/icons.js";
import { Button, useToggle } from "../controls.js";
import { preferences } from "../../preferences.js";
import { Elapsed } from "../ticking.js";
import { duration, firstLine, size } from "../words.js";
import { tookOf } from "../calls.js";
import { BigText, clipped } from "./big_text.js";

/**
 * @typedef {import("../calls.js").Call} Call
 *
 * What surrounds a card. A card asks for everything by this: it knows no network and nothing global.
 * @typedef {object} At
 * @property {(command: string, args?: Record<string, any>) => any} do runs a command of the page
 * @property {(key: string) => boolean | undefined} opened whether the user opened or closed it
 * @property {(key: string, isOpen: boolean) => void} setOpened
 * @property {(key: string) => Record<string, any>} draft what the user has begun in a card
 * @property {(id: string) => any} agent a chat of the family, if it is known
 * @property {(id: string) => Promise<string>} text the text of a file of the chat
 * @property {(id: string) => string} href where a file of the chat can be had
 * @property {(call: Call) => {name: string, tool: string}} server whose tool a call is of
 * @property {(id: string) => {decision: string, decided_by: string | null} | undefined} decided
 * @property {(ask: import("../calls.js").Approval) => boolean} isFirst whether keys decide about it
 * @property {() => boolean} isCurrent whether its column is the one that keys are for
 * @property {boolean} readonly
 *
 * A card: data, and small views that are made when they are needed.
 * @typedef {object} Card
 * @property {readonly string[]} names of the tools that it is for
 * @property {string} icon
 * @property {"commands" | "diffs" | "tools"} kind
 * @property {(call: Call, at: At) => readonly string[]} line what it does and with what: plain text
 * @property {boolean} [readsWhole] it reads by itself what is left out of a long result
 * @property {boolean} [mono] the second part of the line is code
 * @property {(call: Call, at: At) => readonly any[]} [facts] at the right of the line: words, or a small view
 * @property {(call: Call) => string} [problem] why it is to be red, "" if it is not
 * @property {(call: Call) => boolean} [news] whether it opens by itself
 * @property {(call: Call, at: At) => any} [body] made when it is opened
 * @property {(call: Call, at: At) => any} [acts] buttons, shown while it is open
 * @property {(call: Call, at: At) => any} [view] a form of its own, in the place of the common one
 * @property {(call: Call, at: At) => any} [ask] what a person is shown who has to allow it
 * @property {string} [question] what that person is asked
 */

/** @param {{card: Card, call: Call, at: At}} props */
export const CallLine = memo(({ card, call, at }) => {
  const problem = (card.problem ?? problemOf)(call);
  const isOpen = at.opened(call.key) ?? opensBy(card, call, problem);
  const onToggle = useToggle(call.key, isOpen, at);
  const form = `work ${problem ? "bad" : ""} ${call.state}`;
  const acts = card.acts?.(call, at);
  if (!card.body) {
    return html`<div class=${`w1 ${form}`} data-call=${call.key}>${lineOf(card, call, at, problem)}${acts}</div>`;
  }
  return html`<div class="workbox">
    <details class=${`${form} ${acts ? "has-acts" : ""}`} open=${isOpen} onToggle=${onToggle} data-call=${call.key}>
      <summary>${lineOf(card, call, at, problem)}${icon("chev")}</summary>
      ${isOpen && html`<div class="inside">${errorBox(call, problem)}${card.body(call, at)}${card.readsWhole ? null : html`<${CutNote} call=${call} at=${at} />`}</div>`}
    </details>
    ${isOpen && acts && html`<span class="work-acts">${acts}</span>`}
  </div>`;
});

/** That only a part of a long result is here, and the way to all of it. @param {{call: Call, at: At}} props */
function CutNote({ call, at }) {
  const [busy, setBusy] = useState(false);
  if (!call.cutBytes || !call.home) return null;
  const read = async () => {
    setBusy(true);
    await at.do("message.whole", { message: call.home });
    setBusy(false);
  };
  return html`<p class="in quiet cut">
    A part of it is left out; it has ${size(call.cutBytes)} in all.
    <${Button} label=${busy ? "Loading…" : "Show all"} form="quiet" disabled=${busy} onClick=${read} />
  </p>`;
}

/** @param {Card} card @param {Call} call @param {string} problem */
function opensBy(card, call, problem) {
  const mode = preferences[card.kind].value;
  if (mode !== "auto") return mode === "open";
  return card.news ? card.news(call) : Boolean(problem) && call.running;
}

/** @param {Call} call */
export const problemOf = (call) => (call.failed ? call.error : "");

/** @param {Card} card @param {Call} call @param {At} at @param {string} problem */
function lineOf(card, call, at, problem) {
  const [verb, what = ""] = card.line(call, at).map((words) => clipped(words, 300));
  const facts = card.facts?.(call, at) ?? [];
  return html`${icon(problem ? "x" : card.icon)}<span class="what"
      ><b>${verb}</b> ${what && html`<span class=${card.mono ? "mono" : ""}>${what}</span>`}${
        problem && html` <span class="why">${firstLine(whyOf(call, problem))}</span>`
      }</span
    ><span class="r">${badges(call, at)}${facts.map((fact) => html`<span>${fact}</span>`)}${timeOf(call)}</span>`;
}

/** Why it did not work, as a user reads it. @param {Call} call @param {string} problem */
function whyOf(call, problem) {
  if (call.state !== "refused") return problem;
  const words = /They say: ([^]*)$/.exec(problem)?.[1];
  if (words) return `not allowed: ${words}`;
  if (/in time/.test(problem)) return "nobody allowed it in time";
  return /did not allow/.test(problem) ? "not allowed" : "a rule of your deployment does not allow it";
}

/** @param {Call} call */
function timeOf(call) {
  if (call.running) return html`<i class="cue go"></i><${Elapsed} since=${call.began} />`;
  if (call.state === "asks") return html`<i class="cue ask"></i>waits for you`;
  if (call.state === "waits") return html`<i class="cue ask"></i><${Elapsed} since=${call.began} />`;
  const took = tookOf(call);
  return took !== null && took >= 100 ? html`<span class="num">${duration(took)}</span>` : null;
}

/** @param {Call} call @param {At} at */
function badges(call, at) {
  const decided = at.decided(call.id);
  if (decided?.decided_by && call.state !== "asks") {
    return html`<span class="tag">${decided.decision === "deny" ? "denied" : "allowed"} by ${decided.decided_by}</span>`;
  }
  if (call.state === "refused") return html`<span class="tag bad">refused${/^a policy hook /.test(call.error) ? " by a rule" : ""}</span>`;
  if (call.state === "interrupted") return html`<span class="tag">interrupted</span>`;
  return call.rewritten && html`<span class="tag">changed by a rule</span>`;
}

/** @param {Call} call @param {string} problem */
function errorBox(call, problem) {
  if (call.state === "interrupted") return html`<p class="quiet">${interruptedWords(call)}</p>`;
  const isLong = call.failed && problem && problem !== firstLine(problem, 120);
  return isLong && html`<${BigText} text=${problem} form="error" />`;
}

/** @param {Call} call */
export function interruptedWords(call) {
  if (/may have (done|run)/.test(call.error)) return call.error;
  return "It was stopped before it had a result.";
}

/**
 * Return the first word of a line: what goes on, what was done, or what could not be.
 * @param {Call} call
 * @param {string} now
 * @param {string} then
 * @param {string} [not]
 */
export function said(call, now, then, not) {
  if (call.running) return now;
  if (call.failed) return not ?? `${then}: failed`;
  return call.state === "done" ? then : now;
}
