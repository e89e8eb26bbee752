// What can be done in a timeline, by keys, palette, menus and the cards themselves.

import { command } from "../commands.js";
import { current } from "../current.js";
import { inConversation } from "../frame.js";
import { go } from "../routes.js";
import { isAdmin } from "../session.js";
import { toast } from "../shared/toast.js";
import { readModels } from "../composer/catalogue.js";
import { editing } from "./editing.js";
import { navigationOf } from "./navigation.js";

/**
 * @typedef {{conversation: import("./timeline.js").Conversation, around: any,
 *   place: import("./anchor.js").Place, items: any, box: HTMLElement}} Desk
 */

const PAUSE_MS = 500; // after a decision by a key: the next call has to be seen first

const otherModel = () => import("./other_model.js");

/** @param {Desk} desk @returns {() => void} */
export function registerActs(desk) {
  readModels(); // anew after a while, with each chat that is opened
  const here = () => !current.value || current.value === desk.conversation;
  const all = [...acts(desk), ...navigationOf(desk)];
  desk.around.own = new Map(all.map((each) => [each.id, each]));
  const removers = all.map((each) =>
    command({ hidden: true, ...each, when: () => here() && (each.when?.() ?? true) }),
  );
  return () => removers.forEach((remove) => remove());
}

/** @param {Desk} desk @returns {import("../commands.js").Command[]} */
function acts(desk) {
  const { conversation } = desk;
  const group = "Conversation";
  return [
    { id: "copy", title: "Copy", run: ({ text }) => copy(text) },
    { id: "message.link", title: "Copy a link to a message", run: ({ message }) => copyLink(conversation.id, message) },
    { id: "message.edit", title: "Edit your last message", group, hidden: false, when: () => isOwn(desk) && Boolean(lastOwn(desk)), run: (args) => edit(desk, args?.message) },
    { id: "message.resend", title: "Send again with another model", run: (args) => otherModel().then((module) => module.resend(desk, args)) },
    { id: "message.show", title: "Show a message", run: (args) => inConversation(() => showCall(desk, args)) },
    { id: "message.whole", title: "Show the whole result", run: ({ message }) => told(conversation.readWhole(message), "It could not be loaded") },
    { id: "file.show", title: "Show a file", run: (what) => import("./lightbox.js").then((module) => module.showFile(what)) },
    { id: "chat.open", title: "Open a chat", run: ({ chat }) => go(`/c/${chat}`) },
    { id: "settings.usage", title: "Usage and limits", run: () => go("/settings/usage") },
    { id: "settings.keys", title: "Keys of providers", run: () => go(isAdmin.value ? "/admin/providers" : "/settings/keys") },
    { id: "chat.retry", title: "Try the failed turn again", group, hidden: false, when: () => hasFailed(desk), run: (args) => conversation.retry({ model: args?.model }) },
    { id: "chat.retryWith", title: "Go on with another model", run: ({ at }) => otherModel().then((module) => module.withModel(at, (model) => conversation.retry({ model }))) },
    ...decisions(desk),
    { id: "question.answer", title: "Answer a question", run: ({ text }) => conversation.send({ text }) },
    { id: "plan.carry", title: "Carry out the plan", run: () => carryOut(conversation) },
    { id: "call.answer", title: "Answer a call", run: (args) => import("./client_answers.js").then((module) => module.answerOf(conversation, args)) },
  ];
}

/** @param {Desk} desk @returns {import("../commands.js").Command[]} */
function decisions({ conversation, place, box }) {
  const group = "Consent";
  const open = () => conversation.state.peek().asks[0];
  const when = () => Boolean(open());
  let decidedAt = -Infinity;
  const decide = (/** @type {any} */ how) => async (/** @type {any} */ args) => {
    const isHasty = !args?.ask && performance.now() - decidedAt < PAUSE_MS;
    decidedAt = performance.now();
    if (!isHasty) await decided(() => conversation.decide(args?.ask ?? open(), how, args?.words), Boolean(args?.ask));
  };
  return [
    { id: "approval.allow", title: "Allow once", group, hidden: false, when, run: decide("allow_once") },
    { id: "approval.always", title: "Always allow in this chat", group, hidden: false, when, run: decide("allow_always") },
    { id: "approval.rules", title: "Allow by rules", run: ({ ask, rules, scope }) => conversation.decide(ask, "allow_always", "", { rules, scope }) },
    { id: "approval.deny", title: "Deny, with words", group, hidden: false, when, run: (args) => (args?.ask ? decide("deny")(args) : openDenial(open(), place, box)) },
  ];
}

/** Go to the card and let words be written. @param {import("./calls.js").Approval} approval @param {Desk["place"]} place @param {HTMLElement} box */
function openDenial(approval, place, box) {
  const selector = `[data-approval="${CSS.escape(approval.tool_call_id)}"]`;
  if (!box.querySelector(selector)) place.toEnd();
  requestAnimationFrame(() => {
    const card = box.querySelector(selector);
    card?.scrollIntoView({ block: "nearest" });
    const button = card?.querySelector(".deny");
    if (button instanceof HTMLElement) button.click();
  });
}

/** Where it was asked for by a key there is no card that could say what went wrong. @param {() => Promise<any>} act @param {boolean} byCard */
async function decided(act, byCard) {
  try {
    await act();
  } catch (error) {
    if (byCard) throw error;
    toast(`Nothing was decided: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {Promise<any>} act @param {string} what was not done */
const told = (act, what) => act.catch((error) => void toast(`${what}: ${error.message}`));

const carrying = new WeakSet();

/** Leave plan mode, and say so; once, however often it is asked for meanwhile. @param {Desk["conversation"]} conversation */
async function carryOut(conversation) {
  if (carrying.has(conversation)) return;
  carrying.add(conversation);
  try {
    await conversation.patch({ plan_mode: "" });
    await conversation.send({ text: "Carry out the plan." });
  } catch (error) {
    toast(`The plan is not carried out: ${/** @type {Error} */ (error).message}`);
  }
  carrying.delete(conversation);
}

/** @param {string} text */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied");
  } catch {
    toast("The browser does not let this page copy. Select the text instead.");
  }
}

/** @param {string} chat @param {number} message */
const copyLink = (chat, message) => copy(`${location.origin}/c/${chat}?m=${message}`);

/** @param {Desk} desk */
const isOwn = (desk) => !desk.around.readonly;

/** @param {Desk} desk */
const lastOwn = ({ conversation }) => conversation.state.peek().messages.findLast((each) => each.role === "user");

/** @param {Desk} desk */
const hasFailed = ({ conversation, around }) =>
  !around.readonly && Boolean(conversation.state.peek().error || conversation.state.peek().retry);

/** @param {Desk} desk @param {number} [id] */
function edit(desk, id) {
  const { messages } = desk.conversation.state.peek();
  const message = id ? messages.find((each) => each.id === id) : lastOwn(desk);
  if (message) editing.value = { chat: desk.conversation.id, message: /** @type {any} */ (message) };
}

/** Show the card of a call, or the message where no card of it is built. @param {Desk} desk @param {{call?: string, message?: number}} what */
function showCall({ box, conversation }, { call, message }) {
  const key = CSS.escape(call ?? "");
  const card = box.querySelector(`[data-approval="${key}"], [data-call="${key}"]`);
  if (!card && message) return go(`/c/${conversation.id}?m=${message}`);
  card?.scrollIntoView({ block: "center" });
  if (card instanceof HTMLElement) card.focus({ preventScroll: true });
}
