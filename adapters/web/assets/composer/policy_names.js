// How consent is given in a chat, in words.

/** @typedef {import("./composer.js").Place} Place */

export const POLICIES = [
  { id: "", short: "as the deployment says", name: "As the deployment says", hint: "Its rules and its own choice" },
  { id: "ask", short: "ask me", name: "Ask me", hint: "Before every call that changes something" },
  { id: "allow", short: "allow", name: "Allow", hint: "Nothing is asked that the rules do not ask about" },
  { id: "deny", short: "deny", name: "Deny", hint: "What would be asked is refused at once" },
];

/** @param {Place} place */
export function policyOf({ conversation, chat, desk }) {
  const id = conversation ? chat.value?.approval_policy ?? "" : desk.fresh.value.policy;
  return POLICIES.find((policy) => policy.id === id) ?? POLICIES[0];
}
