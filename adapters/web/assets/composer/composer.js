// Where a message is written, with all that stands around the field.

import { computed, html, signal, useEffect, useMemo, useSignal, useSignalEffect } from "../ui.js";
import { current } from "../current.js";
import { command, find } from "../commands.js";
import { inConversation } from "../frame.js";
import { keyWords } from "../keys.js";
import { isMine } from "../list/acts.js";
import { preferences } from "../preferences.js";
import { ownerName } from "../state/row_words.js";
import { pathsOf } from "../panel/changes_of.js";
import { registerTabs } from "../panel/tabs.js";
import { compact, followStop, send, stop } from "./acts.js";
import { later } from "../shared/later.js";
import { usePart } from "../shared/part.js";
import { attach } from "./attaching.js";
import { Bar } from "./bar.js";
import { deskOf } from "./desk.js";
import { followEditing, leaveEditing } from "./editing.js";
import { Field } from "./field.js";
import { goneWords } from "./model.js";
import * as history from "./history.js";
import { countInvisible, withoutInvisible } from "./invisible.js";
import { togglePlan } from "./plan.js";
import { SuggestionList, Suggestions } from "./suggestions.js";

/**
 * @typedef {import("./desk.js").Desk} Desk
 * @typedef {{
 *   desk: Desk, conversation: any | null,
 *   working: import("../vendor/preact.js").ReadonlySignal<boolean>, plan: import("../vendor/preact.js").ReadonlySignal<boolean>,
 *   status: import("../vendor/preact.js").ReadonlySignal<any>, chat: import("../vendor/preact.js").ReadonlySignal<any>,
 *   messages: import("../vendor/preact.js").ReadonlySignal<any>, queued: import("../vendor/preact.js").ReadonlySignal<any>,
 *   coming: import("../vendor/preact.js").ReadonlySignal<boolean>, asks: import("../vendor/preact.js").ReadonlySignal<any>, stopping: import("../vendor/preact.js").Signal<"" | "asked" | "heard">,
 *   paths: import("../vendor/preact.js").ReadonlySignal<string[]>, knows: (command: string) => boolean,
 * }} Place a composer and the chat that it writes to; `queued`, `asks`: how many
 */

const ApprovalsBar = later(() => import("./approvals_bar.js").then((module) => module.ApprovalsBar));
const Beside = later(() => import("./beside.js").then((module) => module.Beside));
const Queue = later(() => import("./queue.js").then((module) => module.Queue));

const chatOf = (/** @type {any} */ state) => state.chat;
const WORKS = ["running", "interrupting", "requires_action"];
const PLACEHOLDER = "Say what comes next. / for commands, @ for files";
const ARMED_MS = 1000; // in which the second Esc has to come, as keys.js says

/** @param {{conversation: any | null, query?: URLSearchParams}} props */
export function Composer({ conversation, query }) {
  const chat = usePart(conversation, chatOf);
  useEffect(() => (conversation ? registerTabs() : undefined), [conversation]);
  if (chat && !isMine(chat)) return html`<p class="comp readonly">You can read this chat. It belongs to ${ownerName(chat)}.</p>`;
  if (chat?.archived) return html`<${Archived} conversation=${conversation} isRoot=${!chat.parent_chat_id} />`;
  return html`<${OwnComposer} conversation=${conversation} query=${query} />`;
}

/** @param {{conversation: any, isRoot: boolean}} props an agent comes back with its root */
function Archived({ conversation, isRoot }) {
  const why = useSignal("");
  const back = () => conversation.patch({ archived: false }).catch((/** @type {Error} */ error) => (why.value = `It was not taken out: ${error.message}`));
  return html`<p class="comp readonly">This chat is archived.
    ${isRoot ? html`<button type="button" class="btn" onClick=${back}>Take out of the archive</button>` : null}
    ${why.value ? html`<span class="err" role="alert">${why.value}</span>` : null}</p>`;
}

/** @param {{conversation: any | null, query?: URLSearchParams}} props */
function OwnComposer({ conversation, query }) {
  const place = useMemo(() => placeOf(conversation), [conversation]);
  const suggestions = useMemo(() => new Suggestions(place.desk, place), [place]);
  useEffect(() => registered(place), [place]);
  useEffect(() => taken(place.desk, query), [place]);
  useDrop(place.desk);
  useEffect(() => followEditing(place), [place]);
  useSignalEffect(() => followStop(place));
  const mine = place.desk;
  return html`<div class="comp">
    ${place.asks.value ? html`<${ApprovalsBar} place=${place} />` : null}
    ${place.queued.value || place.coming.value ? html`<${Queue} place=${place} />` : null}
    <div class=${`box${place.plan.value ? " planning" : ""}`}>
      <${SuggestionList} suggestions=${suggestions} />
      ${mine.files.value.length || mine.refs.value.length ? html`<${Beside} desk=${mine} />` : null}
      <${Field} desk=${mine} acts=${actsOf(place, suggestions)} label="Message" id=${isUsedOne(conversation) ? "message" : undefined} suggestions=${suggestions}
        hint=${conversation ? PLACEHOLDER : "Say what to do. / for commands, @ for files"} />
      <${Notes} place=${place} />
      <${Bar} place=${place} />
    </div>
    <${Hint} place=${place} />
  </div>`;
}

/** @param {any | null} conversation @returns {Place} */
function placeOf(conversation) {
  const desk = deskOf(conversation?.id ?? null);
  const part = (/** @type {(state: any) => any} */ pick) => computed(() => (conversation ? pick(conversation.state.value) : undefined));
  const status = part((state) => state.status), chat = part(chatOf), messages = part((state) => state.messages);
  return {
    desk, conversation, status, chat, messages, queued: part((state) => state.queue.length), asks: part((state) => state.asks.length),
    coming: computed(() => Boolean(conversation?.sending.value.some((/** @type {any} */ one) => one.queues))),
    stopping: signal(/** @type {"" | "asked" | "heard"} */ ("")),
    working: computed(() => WORKS.includes(status.value)),
    plan: computed(() => Boolean(conversation ? chat.value?.plan_mode : desk.fresh.value.plan)),
    paths: computed(() => pathsOf(messages.value ?? [])),
    knows: (id) => Boolean(find(id)),
  };
}

/** @param {Place} place @param {Suggestions} suggestions @returns {import("./field.js").FieldActs} */
function actsOf(place, suggestions) {
  const { desk } = place;
  return {
    moved: () => suggestions.look(),
    suggest: (event) => suggestions.onKey?.(event) ?? false,
    send: (how) => void send(place, how),
    escape: () => suggestions.dismiss() || leaveHistory(desk) || leaveEditing(desk),
    older: (event) => browse(place, event),
  };
}

/** @param {Desk} desk */
function leaveHistory(desk) {
  const browsing = desk.browsing.peek();
  if (!browsing) return false;
  desk.text.value = browsing.draft;
  desk.browsing.value = null;
  return true;
}

/** @param {Place} place @param {KeyboardEvent} event */
function browse({ desk, conversation }, event) {
  const browsing = desk.browsing.peek();
  if (event.altKey || event.metaKey || event.ctrlKey || event.shiftKey || !conversation) return false;
  if (!browsing) {
    if (event.key !== "ArrowUp" || desk.text.peek() || desk.editing.peek()) return false;
    void conversation.prompts().then((/** @type {{text: string}[]} */ prompts) => {
      if (!desk.text.peek()) show(desk, history.begin(prompts.map((prompt) => prompt.text), ""));
    }, () => (desk.problem.value = "The earlier messages could not be read."));
    return true;
  }
  const next = history.step(browsing, event.key === "ArrowUp" ? 1 : -1);
  if (next) show(desk, next);
  else leaveHistory(desk);
  return true;
}

/** @param {Desk} desk @param {history.Browsing | null} browsing */
function show(desk, browsing) {
  if (!browsing) return;
  desk.browsing.value = browsing;
  desk.text.value = history.shown(browsing);
  desk.focus();
}

/** Of several columns one is used: keys are about it. @param {any | null} conversation */
const isUsedOne = (conversation) => !conversation || !current.value || current.value === conversation;

/** Make known what can be done here. @param {Place} place */
function registered(place) {
  const { desk, conversation } = place;
  const isUsed = () => isUsedOne(conversation);
  const own = (/** @type {import("../commands.js").Command} */ each) => command({ ...each, when: () => isUsed() && (each.when?.() ?? true) });
  const added = [
    own({ id: "composer.focus", title: "Write a message", group: "Chat", run: () => inConversation(() => desk.focus()) }),
    own({ id: "composer.insert", title: "Put text into the message", hidden: true, run: ({ text }) => inConversation(() => desk.insert(text)) }),
    own({ id: "composer.reference", title: "Refer to lines", hidden: true, run: (reference) => desk.refer(reference) }),
    own({ id: "composer.take", title: "Take a message back", hidden: true, run: (written) => void (desk.restore({ files: [], refs: [], ...written }), desk.focus()) }),
    own({ id: "composer.attach", title: "Attach files", hidden: true, run: ({ files }) => attach(desk, files) }),
    own({ id: "chat.plan", title: "Plan first", group: "Chat", run: () => togglePlan(place) }),
  ];
  if (conversation) {
    added.push(
      own({ id: "chat.stop", title: "Stop", group: "Chat", when: () => place.working.peek(), run: () => stop(place) }),
      own({ id: "chat.compact", title: "Summarise now", group: "Chat", when: () => !place.working.peek(), run: () => compact(place) }),
      own({ id: "chat.cost", title: "Cost of the chat", group: "Chat", run: () => find("panel.show")?.run({ tab: "summary" }) }),
    );
  }
  return () => added.forEach((remove) => remove());
}

/** Take what the address or another program's share brings along. @param {Desk} desk @param {URLSearchParams} [query] */
function taken(desk, query) {
  const text = query?.get("text");
  if (text) void desk.ready.then(() => desk.empty.peek() && (desk.text.value = text));
}

/** Take files that are dropped anywhere on the conversation. @param {Desk} desk */
function useDrop(desk) {
  useEffect(() => {
    const stage = desk.field?.closest(".column, .stage") ?? document.body;
    const over = (/** @type {any} */ event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      stage.classList.add("dropping");
    };
    const away = (/** @type {any} */ event) => !stage.contains(event.relatedTarget) && stage.classList.remove("dropping");
    const drop = (/** @type {any} */ event) => {
      stage.classList.remove("dropping");
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      attach(desk, event.dataTransfer.files);
      desk.focus();
    };
    const heard = /** @type {const} */ ([["dragover", over], ["dragleave", away], ["drop", drop]]);
    for (const [name, handler] of heard) stage.addEventListener(name, handler);
    return () => heard.forEach(([name, handler]) => stage.removeEventListener(name, handler));
  }, [desk]);
}

/** What is to be known before sending, and what came of the last attempt. @param {{place: Place}} props */
function Notes({ place }) {
  const { desk, plan } = place;
  const invisible = countInvisible(desk.text.value);
  return html`<div class="notes">
    ${plan.value ? html`<p class="dim">Plan first: it looks and proposes, and changes nothing.</p>` : null}
    ${desk.editing.value ? html`<p class="warn">You are changing a message. Sending removes what follows it and empties the queue.${" "}
      <button type="button" class="link" onClick=${() => leaveEditing(desk)}>Leave it as it was</button></p>` : null}
    ${desk.browsing.value ? html`<p class="dim">Message ${desk.browsing.value.at + 1} of ${desk.browsing.value.prompts.length}. Esc goes back to the draft.</p>` : null}
    ${invisible ? html`<p class="warn">${invisible} invisible ${invisible === 1 ? "character" : "characters"}.${" "}<button type="button" class="link"
      onClick=${() => (desk.text.value = withoutInvisible(desk.text.peek()))}>Take out</button></p>` : null}
    ${goneWords(place) && html`<p class="warn">${goneWords(place)}</p>`}
    ${desk.problem.value ? html`<p class="err" role="alert">${desk.problem.value}</p>` : null}
  </div>`;
}

/** The keys that matter now. One Esc only asks for another. @param {{place: Place}} props */
function Hint({ place }) {
  const armed = useSignal(false);
  useSignalEffect(() => void (place.stopping.value && (armed.value = false)));
  useEffect(() => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const escape = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Escape" || event.defaultPrevented || !place.working.peek() || !isUsedOne(place.conversation)) return;
      armed.value = !armed.peek();
      clearTimeout(timer);
      timer = setTimeout(() => (armed.value = false), ARMED_MS);
    };
    addEventListener("keydown", escape);
    return () => removeEventListener("keydown", escape);
  }, [place]);
  const key = (/** @type {string} */ keys) => html`<kbd>${keyWords(keys).join(" ")}</kbd>`;
  const enter = preferences.sendKey.value === "mod-enter" ? "mod+Enter" : "Enter";
  if (place.stopping.value) return html`<div class="hint" role="status">Stopping…</div>`;
  if (armed.value) return html`<div class="hint" role="status"><span>${key("Escape")} again to stop</span></div>`;
  if (!place.working.value) return html`<div class="hint"><span>${key(enter)} send</span><span>${key("shift+Enter")} new line</span><span>${key("?")} keys</span></div>`;
  return html`<div class="hint"><span>${key(enter)} ${place.desk.busy.value}</span><span>${key(enter === "Enter" ? "mod+Enter" : "mod+shift+Enter")} steer</span>
    <span>${key("Escape Escape")} stop</span><span>${key("?")} keys</span></div>`;
}

