// What `@` offers: files that the chat has touched, other chats, workspaces. Chats and workspaces
// become references beside the text; a file is put into the text by its path.

import { signal } from "../ui.js";
import { api } from "../wire/api.js";
import { commonFolder } from "../panel/changes_of.js";
import { fitting } from "./words.js";

/** @typedef {import("./composer.js").Place} Place */
/** @typedef {{id: string, title: string, summary: string | null, last_turn_summary: string | null}} Chat */
/** @typedef {{id: string, name: string, path: string, status: string}} Workspace */

const SHOWN = 6; // of each kind
const STALE_MS = 30_000; // then lists are read anew
const PAUSE_MS = 150; // after the last key, before chats are searched by title

/** @type {import("../vendor/preact.js").Signal<{chats: Chat[], workspaces: Workspace[], word: string}>} */
const found = signal({ chats: [], workspaces: [], word: "" });
let readAt = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** @param {string} word */
function search(word) {
  if (word === found.peek().word && Date.now() - readAt < STALE_MS) return;
  clearTimeout(timer);
  timer = setTimeout(() => void read(word), readAt ? PAUSE_MS : 0);
}

/** @param {string} word */
async function read(word) {
  readAt = Date.now();
  const query = word ? { q: `title:"${word.replaceAll('"', "")}"`, limit: 20 } : { limit: 20 };
  const [chats, spaces] = await Promise.allSettled([
    api.get("/api/experimental/chats", query), api.get("/api/v2/workspaces", { limit: 50 }),
  ]);
  found.value = {
    word,
    chats: chats.status === "fulfilled" ? chats.value : found.peek().chats,
    workspaces: spaces.status === "fulfilled" ? spaces.value.workspaces : found.peek().workspaces,
  };
}

/**
 * Return files, chats and workspaces that fit what was typed.
 * @param {Place} place @param {import("./words.js").Lookup} lookup
 * @returns {import("./suggestions.js").Choices[]}
 */
export function mentionItems(place, lookup) {
  search(lookup.word);
  const { chats, workspaces } = found.value;
  const others = chats.filter((chat) => chat.id !== place.conversation?.id);
  return [
    { title: "Files of this chat", items: fitting(place.paths.value, lookup.word, (path) => path, SHOWN).map((path) => fileItem(path, commonFolder(place.paths.value))) },
    { title: "Chats", items: fitting(others, lookup.word, (chat) => chat.title, SHOWN).map(chatItem) },
    { title: "Workspaces", items: fitting(workspaces, lookup.word, (space) => space.name, SHOWN).map(spaceItem) },
  ];
}

/** @param {string} path @param {string} root the folder that all of them lie in */
function fileItem(path, root) {
  const name = path.split("/").pop() ?? path;
  return { id: `file ${path}`, name, hint: path.slice(root.length), icon: "file", pick: () => `\`${path}\`` };
}

/** @param {Chat} chat */
function chatItem(chat) {
  const content = chat.summary || chat.last_turn_summary || "(There is no summary of this chat yet.)";
  return {
    id: `chat ${chat.id}`, name: chat.title, hint: chat.last_turn_summary ?? "its summary goes along", icon: "plan",
    pick: (/** @type {import("./desk.js").Desk} */ desk) => {
      desk.refer({ file_name: `chat: ${chat.title} (/c/${chat.id})`, start_line: 0, end_line: 0, content });
      return "";
    },
  };
}

/** @param {Workspace} space */
function spaceItem(space) {
  return {
    id: `space ${space.id}`, name: space.name, hint: space.path, icon: "term",
    pick: (/** @type {import("./desk.js").Desk} */ desk) => {
      desk.refer({ file_name: `workspace: ${space.name}`, start_line: 0, end_line: 0, content: `${space.name}, ${space.status}, at ${space.path}` });
      return "";
    },
  };
}
