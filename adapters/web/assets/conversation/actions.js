// What a person can do to a chat beside writing to it.

import { api } from "../wire/api.js";

/** @typedef {import("../state/chat.js").Approval} Approval */

/** Fields that an answer leaves out when they no longer hold. */
const LEFT_OUT = { queued_for_capacity: undefined, place_in_line: undefined, takeover_seconds: undefined };

/** @param {import("../conversation.js").Core} core */
export function actionsOf(core) {
  const path = `chats/${core.id}`;
  const takeChat = (/** @type {any} */ chat) => {
    if (chat) core.takeNow({ type: "chat", chat: { ...LEFT_OUT, ...chat } });
    return chat;
  };
  const refresh = async () => takeChat(await api.get(path));
  return {
    refresh,
    interrupt: async () => takeChat(await api.post(`${path}/interrupt`)),
    compact: async () => takeChat(await api.post(`${path}/compact`)),
    takeContext: async () => takeChat(await api.put(`${path}/context`)),
    prompts: async () => (await api.get(`${path}/prompts`)).prompts,

    /** @param {{model?: string, effort?: string}} [how] the turn that failed once more, or its pause is over now */
    async retry({ model, effort } = {}) {
      const { error, retry } = core.latest();
      const chat = await api.post(`${path}/retry`, { model_config_id: model, reasoning_effort: effort });
      core.takeNow({ type: "retried", error, retry });
      return takeChat(chat);
    },

    /** @param {Record<string, unknown>} changes */
    async patch(changes) {
      await api.patch(path, changes);
      return refresh();
    },

    /**
     * @param {Approval} approval
     * @param {"allow_once" | "allow_always" | "deny"} decision
     * @param {string} [words] for the model, with a denial
     * @param {{rules: string[], scope: string}} [more] with allow_always: what it is limited to
     */
    async decide(approval, decision, words, more) {
      const { chat_id, tool_call_id, requested_at } = approval;
      const body = { decision, words: words || undefined, chat_id, requested_at, ...more };
      await api.post(`${path}/approvals/${encodeURIComponent(tool_call_id)}`, body);
    },

    /** @param {string} tool */
    askAgain: (tool) => api.del(`${path}/approvals/always/${encodeURIComponent(tool)}`),

    /** @param {{tool_call_id: string, output: unknown, is_error?: boolean}[]} results of all calls */
    answer: (results) =>
      api.post(`${path}/tool-results`, {
        results: results.map((one) => ({ is_error: false, ...one })),
      }),
  };
}
