// Answers to calls that the client has to make itself: the daemon takes them all at once.

/** @type {Map<string, Map<string, unknown>>} */
const given = new Map();

/**
 * Keep an answer, and send them as soon as every call that waits has one.
 * @param {import("./timeline.js").Conversation} conversation
 * @param {{call: string, output: unknown}} answer
 */
export async function answerOf(conversation, { call, output }) {
  const answers = given.get(conversation.id) ?? new Map();
  given.set(conversation.id, answers.set(call, output));
  const waits = conversation.state.peek().calls.map((each) => each.tool_call_id);
  const left = waits.filter((id) => !answers.has(id));
  if (left.length) return left.length;
  await conversation.answer(waits.map((id) => ({ tool_call_id: id, output: answers.get(id) })));
  given.delete(conversation.id);
  return 0;
}
