// What surrounds the cards of one chat: what they ask for, and what the page remembers for them.

import { money } from "../text/money.js";
import { run } from "../commands.js";
import { current } from "../current.js";
import { me } from "../session.js";
import { computed, effect, signal } from "../ui.js";
import { address, api } from "../wire/api.js";
import { lookups } from "./lookups.js";

/** @typedef {import("./timeline.js").Conversation} Conversation */
/** @typedef {ReturnType<typeof aroundOf>} Around */

/** @param {Conversation} conversation */
export function aroundOf(conversation) {
  const chat = computed(() => conversation.state.value.chat);
  const children = computed(() => chat.value?.children ?? []);
  const firstAsk = computed(() => conversation.state.value.asks[0]);
  const decisions = decisionsOf(conversation);
  return {
    chat: conversation.id,
    ...memoryOf(),
    own: /** @type {ReadonlyMap<string, any>} */ (new Map()), // commands of this chat itself
    isCurrent: () => !current.value || current.value === conversation,
    do: doer(conversation),
    agent: (/** @type {string} */ child) =>
      children.value.find((/** @type {any} */ each) => each.id === child) ?? lookups.value.chat(child),
    text: textOf,
    href: (/** @type {string} */ file) => address(`chats/files/${encodeURIComponent(file)}`),
    server: serverOf,
    decided: (/** @type {string} */ call) => decisions.map.value.get(call),
    isFirst: (/** @type {any} */ ask) => firstAsk.value?.tool_call_id === ask.tool_call_id,
    fill: (/** @type {any} */ hole) => conversation.loadHole(hole).catch(() => {}),
    model: (/** @type {string | undefined} */ model) => (model ? lookups.value.model(model) : ""),
    money: (/** @type {number} */ micros) => money(micros, 0),
    person: (/** @type {string | undefined} */ user) => personOf(user, chat.value),
    get readonly() {
      const owner = chat.value?.owner_id;
      return Boolean(chat.value?.archived || (owner && me.value && owner !== me.value.id));
    },
    close: decisions.close,
  };
}

/** What the user has opened, unfolded and begun: it outlives the views, which come and go. */
function memoryOf() {
  const unfolded = signal(/** @type {ReadonlySet<string>} */ (new Set()));
  const opened = remembering();
  /** @type {Map<string, any>} */
  const drafts = new Map();
  return {
    unfolded,
    opened: (/** @type {string} */ key) => opened(key).value,
    setOpened: (/** @type {string} */ key, /** @type {boolean} */ isOpen) => void (opened(key).value = isOpen),
    draft: (/** @type {string} */ key) => drafts.get(key) ?? drafts.set(key, {}).get(key),
    isUnfolded: (/** @type {string} */ key) => unfolded.value.has(key),
    unfold: (/** @type {string} */ key, /** @type {boolean} */ isOpen) => {
      const next = new Set(unfolded.peek());
      if (isOpen) next.add(key);
      else next.delete(key);
      unfolded.value = next;
    },
  };
}

/** Whether each card is open, as the user left it: a signal for each that was asked for. */
function remembering() {
  /** @type {Map<string, import("../ui.js").Signal<boolean | undefined>>} */
  const all = new Map();
  return (/** @type {string} */ key) => {
    let one = all.get(key);
    if (!one) all.set(key, (one = signal(/** @type {boolean | undefined} */ (undefined))));
    return one;
  };
}

/** @param {Conversation} conversation */
const doer = (conversation) =>
  /**
   * @this {{own: ReadonlyMap<string, any>}}
   * @param {string} id
   * @param {any} args
   */
  function (id, args) {
    const given = { chat: conversation.id, ...args };
    const own = this.own.get(id);
    return own ? own.run(given) : run(id, given);
  };

/** @param {string} file */
async function textOf(file) {
  const answer = await fetch(address(`chats/files/${encodeURIComponent(file)}`), { credentials: "same-origin" });
  if (!answer.ok) throw new Error(answer.status === 404 ? "it is no longer kept" : `the daemon answered ${answer.status}`);
  return answer.text();
}

/** @param {import("./calls.js").Call} call */
function serverOf(call) {
  const named = (call.ask?.tool_name ?? call.name).replace(/^(workspace|start):/, "");
  const at = named.indexOf("__");
  if (at > 0) return { name: named.slice(0, at).replace(/_/g, " "), tool: named.slice(at + 2) };
  return { name: "", tool: call.name };
}

/** @param {string | undefined} user @param {any} chat */
function personOf(user, chat) {
  if (!user || !chat || user === me.value?.id) return "";
  return user === chat.owner_id ? chat.owner_name || chat.owner_username || "" : "";
}

/**
 * Who decided about the calls that waited: read when one of them no longer waits.
 * @param {Conversation} conversation
 */
function decisionsOf(conversation) {
  const map = signal(/** @type {ReadonlyMap<string, any>} */ (new Map()));
  let before = conversation.state.peek().asks;
  const close = effect(() => {
    const { asks } = conversation.state.value;
    const isOver = before.some((ask) => !asks.includes(ask));
    before = asks;
    if (isOver) read();
  });
  let turns = 0;
  const read = async () => {
    const turn = ++turns;
    const answer = await api.get(`chats/${conversation.id}/approvals`).catch(() => null);
    if (answer && turn === turns) map.value = new Map(answer.decided.toReversed().map((/** @type {any} */ one) => [one.tool_call_id, one]));
  };
  if (conversation.state.peek().chat?.approval_policy === "ask") setTimeout(read, 500);
  return { map, close };
}
