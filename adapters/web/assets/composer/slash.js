// What `/` offers: commands of the composer, and skills of one's own.

import { signal } from "../ui.js";
import { api } from "../wire/api.js";
import { run } from "../commands.js";
import { fitting } from "./words.js";

/** @typedef {import("./composer.js").Place} Place */
/** @typedef {{name: string, does: string, id: string, when?: (place: Place) => string}} Slash `when`: why not, or "" */

const inChat = (/** @type {Place} */ place) => (place.conversation ? "" : "The chat has to be begun first.");
const atRest = (/** @type {Place} */ place) => inChat(place) || (place.working.value ? "Not while it works." : "");

/** @type {Slash[]} */
const COMMANDS = [
  { name: "compact", does: "Summarise the chat now, to make room", id: "chat.compact", when: atRest },
  { name: "plan", does: "Plan first, change nothing; again: carry it out", id: "chat.plan" },
  { name: "model", does: "Choose the model and how hard it thinks", id: "chat.model" },
  { name: "rename", does: "Give the chat another title", id: "chat.rename", when: inChat },
  { name: "label", does: "Set labels of the chat", id: "chat.label", when: inChat },
  { name: "archive", does: "Put the chat away", id: "chat.archive", when: atRest },
  { name: "cost", does: "What the chat and its agents have cost", id: "chat.cost", when: inChat },
];

/** @type {import("../vendor/preact.js").Signal<{name: string, description: string}[] | null>} */
const skills = signal(null);

async function readSkills() {
  if (skills.peek()) return;
  skills.value = [];
  try {
    skills.value = await api.get("/api/experimental/users/me/skills");
  } catch {
    skills.value = null; // asked again the next time
  }
}

/**
 * Return the commands and skills that fit what was typed.
 * @param {Place} place @param {import("./words.js").Lookup} lookup
 * @returns {import("./suggestions.js").Choices[]}
 */
export function slashItems(place, lookup) {
  void readSkills();
  const first = lookup.from === 0;
  const commands = first ? COMMANDS.filter((command) => place.knows(command.id)) : [];
  const { own, theirs } = named(skills.value ?? [], place.chat.value?.context?.resources ?? []);
  return [
    { title: "Commands", items: fitting(commands, lookup.word, (command) => command.name).map((command) => commandItem(command, place)) },
    { title: "Your skills", items: fitting(own, lookup.word, (skill) => skill.name).map(skillItem) },
    { title: "Skills of the workspace", items: fitting(theirs, lookup.word, (skill) => skill.name).map(skillItem) },
  ];
}

/**
 * Return one's own skills and those of the workspace; of one name, each is called by where it is from.
 * @param {{name: string, description: string}[]} own @param {any[]} resources
 */
function named(own, resources) {
  const theirs = resources.filter((resource) => resource.kind === "skill" && resource.status === "ok")
    .map((resource) => ({ name: resource.skill_name ?? "", description: resource.skill_description ?? "" }));
  const both = new Set(own.map((skill) => skill.name).filter((name) => theirs.some((skill) => skill.name === name)));
  const placed = (/** @type {string} */ where) => (/** @type {{name: string, description: string}} */ skill) =>
    both.has(skill.name) ? { ...skill, name: `${where}/${skill.name}` } : skill;
  return { own: own.map(placed("personal")), theirs: theirs.map(placed("workspace")) };
}

/** @param {Slash} command @param {Place} place */
function commandItem(command, place) {
  const why = command.when?.(place) ?? "";
  return {
    id: `/${command.name}`, name: `/${command.name}`, hint: command.does, why,
    pick: () => {
      setTimeout(() => run(command.id, { chat: place.conversation?.id }));
      return "";
    },
  };
}

/** @param {{name: string, description: string}} skill */
function skillItem(skill) {
  return { id: `skill ${skill.name}`, name: `/${skill.name}`, hint: skill.description, pick: () => `/${skill.name}` };
}
