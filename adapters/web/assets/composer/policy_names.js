// How consent is given in a chat, in words.

/** @typedef {import("./composer.js").Place} Place */

export const POLICIES = [
  { id: "", short: "as set up here", name: "As set up here", hint: "What the administrators have chosen" },
  { id: "ask", short: "ask me", name: "Ask me", hint: "Before every call that changes something" },
  { id: "allow", short: "allow", name: "Allow", hint: "You are asked only where a rule says so" },
  { id: "deny", short: "deny", name: "Deny", hint: "What you would be asked about is refused" },
];

/** @param {Place} place */
export function policyOf({ conversation, chat, desk }) {
  const id = conversation ? chat.value?.approval_policy ?? "" : desk.fresh.value.policy;
  return POLICIES.find((policy) => policy.id === id) ?? POLICIES[0];
}
