/**
 * The cue light of a chat: the one sign of what it does. Pure.
 *
 * @typedef {import("../wire/types.js").Chat} Chat
 * @typedef {"ask"|"bad"|"go"|"new"|"off"} Light
 */

/** Lights from the strongest to the weakest. */
const STRENGTH = /** @type {const} */ (["ask", "bad", "go", "new", "off"]);

/** What each light is called, for people who do not see it. */
export const LIGHT_NAMES = { ask: "asks you", bad: "failed", go: "working", new: "unread", off: "idle" };

/** Say whether the chat waits for a person. @param {Chat} chat */
export function asks(chat) {
  if (chat.approvals?.length) return true;
  return chat.status === "requires_action" || asksInWords(chat);
}

/** Say whether its last turn ended with a question or a plan. @param {Chat} chat */
export const asksInWords = (chat) =>
  chat.status === "waiting" && (chat.attention === "question" || chat.attention === "plan");

/** Say whether a model is at work in the chat itself. @param {Chat} chat */
export const works = (chat) => chat.status === "running" || chat.status === "interrupting";

/** Return the light of the chat alone. @param {Chat} chat @returns {Light} */
export function lightOf(chat) {
  if (asks(chat)) return "ask";
  if (chat.status === "error") return "bad";
  if (works(chat)) return "go";
  return chat.has_unread ? "new" : "off";
}

/** Return the stronger of two lights. @param {Light} one @param {Light} other @returns {Light} */
export const stronger = (one, other) => (STRENGTH.indexOf(one) <= STRENGTH.indexOf(other) ? one : other);

/**
 * Return the light of an agent. What agents write is for their root: it is nobody's to read.
 * @param {Chat} chat
 * @returns {Light}
 */
export function agentLight(chat) {
  const light = lightOf(chat);
  return light === "new" ? "off" : light;
}

/** Return the strongest light of a root and its agents. @param {Chat} chat @returns {Light} */
export function familyLight(chat) {
  return (chat.children ?? []).reduce((light, child) => stronger(light, agentLight(child)), lightOf(chat));
}

/** Return the chat of the family that asks: the root before its agents. @param {Chat} chat */
export function askerOf(chat) {
  return asks(chat) ? chat : (chat.children ?? []).find(asks);
}

/**
 * Say whether a person has to act for the family to go on. An agent's failure does not count: its
 * root is told of it and deals with it.
 *
 * @param {Chat} chat
 */
export const needsPerson = (chat) => !chat.archived && (chat.status === "error" || askerOf(chat) !== undefined);

/** Say whether anything of the family is at work. @param {Chat} chat */
export const familyWorks = (chat) => works(chat) || (chat.children ?? []).some(works);
