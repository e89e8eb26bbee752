// What stands below the last message: why nothing goes on, and what can be done about it.

import { html, useComputed } from "../ui.js";
import { afterPaint } from "../kernel/first_paint.js";
import { later } from "../shared/later.js";

/** @typedef {import("./timeline.js").Conversation} Conversation */

const Now = later(() => afterPaint().then((module) => module.Now));
const ForeignAsk = later(() => import("./cards/endings.js").then((module) => module.ForeignAsk));
const Retry = later(() => import("./cards/endings.js").then((module) => module.Retry));
const Failed = later(() => import("./cards/endings.js").then((module) => module.Failed));

const NONE = new Set();

/** @param {{conversation: Conversation, at: any}} props */
export function Endings({ conversation, at }) {
  const asks = useComputed(() => conversation.state.value.asks);
  const retry = useComputed(() => conversation.state.value.retry);
  const error = useComputed(() => conversation.state.value.error);
  const shown = useComputed(() => (asks.value.length ? shownCalls(conversation.state.value) : NONE));
  const foreign = asks.value.filter((ask) => !shown.value.has(ask.tool_call_id) || ask.chat_id !== conversation.id);
  return html`${foreign.map((ask) => html`<${ForeignAsk} key=${`${ask.chat_id}.${ask.tool_call_id}`} ask=${ask} at=${at} />`)}
    ${retry.value && html`<${Retry} retry=${retry.value} at=${at} />`}
    ${error.value && html`<${Failed} error=${error.value} at=${at} />`}
    <${Now} conversation=${conversation} />`;
}

/** The ids of calls that stand in the messages themselves. @param {any} state */
function shownCalls(state) {
  const last = state.messages.findLast((/** @type {any} */ each) => each.role === "assistant");
  const parts = [...(last?.content ?? []), ...(state.live?.parts ?? [])];
  return new Set(parts.filter((part) => part.type === "tool-call").map((part) => part.tool_call_id));
}
