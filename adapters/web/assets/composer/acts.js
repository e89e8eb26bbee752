// What the composer does: begin a chat, send, take back, stop, plan. Refusals are said at the field.

import { api } from "../wire/api.js";
import { me } from "../session.js";
import { go, route } from "../routes.js";
import { run } from "../commands.js";
import { queueOf } from "../conversation/queue.js";
import { toast } from "../shared/toast.js";
import { leaveEditing } from "./editing.js";
import { deskOf } from "./desk.js";
import { chosen } from "./model.js";
import { readModels } from "./catalogue.js";

/** @typedef {import("./composer.js").Place} Place */
/** @typedef {import("./desk.js").Busy} Busy */

/** Of these nobody knows whether the daemon has done what was asked for. */
const AWAY = new Set([0, 502, 503, 504]);

/** Return why nothing can be sent now, or "". @param {Place} place */
export function whyNotNow({ desk, chat }) {
  if (desk.uploading.value) return "A file is still on its way.";
  if (desk.files.value.some((file) => file.state === "failed")) return "A file could not be sent: try again or remove it.";
  if (chat.value?.archived) return "The chat is archived.";
  return "";
}

/**
 * Send what is written; with nothing written, the first of the queue goes in now.
 * @param {Place} place @param {"usual" | Busy} how
 */
export async function send(place, how) {
  const { desk, conversation } = place;
  if (desk.sending.peek()) return;
  if (desk.empty.peek()) return how === "usual" && !desk.editing.peek() ? promoteFirst(place) : undefined;
  const why = whyNotNow(place);
  if (why) return void (desk.problem.value = why);
  if (/^\/\w+\s*$/.test(desk.text.peek()) && runTyped(place)) return;
  const busy = how === "usual" ? desk.busy.peek() : how;
  if (!conversation) return begin(place);
  if (desk.editing.peek()) return rewrite(place);
  const written = desk.take();
  const now = chosen(place);
  const model = desk.model.peek() || now.gone ? now.model?.id : undefined;
  const choice = { model, effort: (model ? now.effort : desk.effort.peek()) || undefined, servers: desk.fresh.peek().servers ?? undefined };
  try {
    await conversation.send({ text: written.text.trim(), files: written.files.map(fileOf), refs: written.refs, busy, ...choice });
    desk.fresh.value = { ...desk.fresh.peek(), servers: null };
    desk.landed(written);
  } catch (error) {
    desk.restore(written);
    desk.problem.value = sentence(error, "It was not sent");
    if (/** @type {any} */ (error).status === 400) void readModels(0); // the model may be gone
  }
}

/** Put the message that is written anew in the place of the old one. @param {Place} place */
async function rewrite({ desk, conversation }) {
  const { message } = /** @type {{message: number}} */ (desk.editing.peek());
  const { text, files, refs } = desk.written;
  const choice = { model: desk.model.peek() ?? undefined, effort: desk.effort.peek() ?? undefined };
  desk.sending.value = true;
  try {
    await conversation.edit(message, { text: text.trim(), files: files.map(fileOf), refs, ...choice });
    if (desk.editing.peek()?.message === message) leaveEditing(desk);
  } catch (error) {
    desk.problem.value = sentence(error, "It was not changed");
  } finally {
    desk.sending.value = false;
  }
}

/** Begin a chat with what is written. @param {Place} place */
async function begin(place) {
  const { desk } = place;
  const { model, effort } = chosen(place);
  const { plan, policy, workspace, servers } = desk.fresh.peek();
  const { name } = route.peek();
  const written = desk.take();
  const { text, files, refs } = written;
  const content = [
    ...(text.trim() ? [{ type: "text", text: text.trim() }] : []),
    ...refs.map((reference) => ({ type: "file-reference", ...reference })),
    ...files.map((file) => ({ type: "file", file_id: file.id })),
  ];
  desk.sending.value = true;
  try {
    const body = {
      organization_id: me.peek().organization_ids[0], content, client_type: "ui",
      ...(model && !model.isDefault && { model_config_id: model.id }), ...(effort && { reasoning_effort: effort }),
      ...(plan && { plan_mode: plan }), ...(policy && { approval_policy: policy }),
      ...(workspace && { workspace_id: workspace }), ...(servers && { mcp_server_ids: servers }),
    };
    const chat = await api.post("chats", body, { key: desk.keyFor(body) });
    desk.landed(written);
    desk.keyFor(null);
    deskOf(chat.id).begun = true;
    const open = () => void go(`/c/${chat.id}`);
    if (route.peek().name === name) open();
    else toast({ text: "The chat is begun", act: { label: "Open", run: open } }); // its user has gone on to something else
  } catch (error) {
    desk.restore(written);
    if (!AWAY.has(/** @type {any} */ (error).status)) desk.keyFor(null);
    desk.problem.value = sentence(error, "The chat was not begun");
  } finally {
    desk.sending.value = false;
  }
}

/** Run a command that was typed in full. @param {Place} place */
function runTyped({ desk, knows, conversation }) {
  const id = `chat.${desk.text.peek().trim().slice(1)}`;
  if (!knows(id)) return false;
  desk.text.value = "";
  run(id, { chat: conversation?.id });
  return true;
}

/** @param {Place} place */
async function promoteFirst({ conversation, desk }) {
  const first = conversation && queueOf(conversation).rows.peek()[0]; // as it is shown
  if (!first) return;
  try {
    await queueOf(conversation).promote(first.id);
  } catch (error) {
    desk.problem.value = sentence(error, "It was not sent");
  }
}

/** Ask the chat to stop. @param {Place} place */
export async function stop({ conversation, stopping, desk }) {
  if (!conversation || stopping.peek()) return;
  stopping.value = "asked";
  try {
    await conversation.interrupt();
    if (stopping.peek()) stopping.value = "heard";
  } catch (error) {
    stopping.value = "";
    if (/** @type {any} */ (error).status !== 409) desk.problem.value = sentence(error, "It was not stopped");
  }
}

/** "Stopping…" until the chat has been interrupting, or works no longer; before a new line it may have been. @param {Place} place */
export function followStop({ conversation, stopping, status, working }) {
  void conversation?.line.value;
  if (status.value === "interrupting") stopping.value = "heard";
  else if (stopping.peek() === "heard" || !working.value) stopping.value = "";
}

/** Change the chat, or what the next one is begun with. @param {Place} place @param {Record<string, string>} change */
export async function patch({ conversation, desk }, change) {
  if (!conversation) return;
  try {
    await conversation.patch(change);
  } catch (error) {
    desk.problem.value = sentence(error, "That was not changed");
  }
}

/** Summarise the chat now. @param {Place} place */
export async function compact(place) {
  if (!place.conversation) return;
  try {
    await place.conversation.compact();
  } catch (error) {
    toast(sentence(error, "Nothing was summarised"));
  }
}

/** @param {{id: string | null, name: string, type: string, size: number}} file */
const fileOf = ({ id, name, type, size }) => ({ id: /** @type {string} */ (id), name, type, size });

/**
 * Return what went wrong in a sentence: what was not done, and why.
 * @param {unknown} error @param {string} what
 */
export function sentence(error, what) {
  const { message = "", validations = [] } = /** @type {{message?: string, validations?: {detail: string}[]}} */ (error ?? {});
  const why = [message, ...validations.map((validation) => validation.detail)].filter(Boolean).join(" ");
  return why ? `${what}: ${why}` : `${what}.`;
}
