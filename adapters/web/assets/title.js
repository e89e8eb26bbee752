/** The title of the tab says how much needs the user; its icon is the cue light of the open chat. */

import {chats} from "./chats_store.js";
import {current} from "./current.js";
import {route} from "./routes.js";
import {effect} from "./ui.js";

const PROGRAM = "promptcorner";
const NAMES = {
  home: "", chat: "Chat", new: "New chat", search: "Search", settings: "Settings",
  admin: "Administration", nowhere: "Nothing here",
};

/** @returns {any} the open chat, as far as it is known */
function openChat() {
  const state = current.value?.state.value;
  return state?.chat || chats.find(route.value.chat) || null;
}

/** @returns {"go" | "ask" | "bad" | "off"} the cue light of the open chat */
function lightOf() {
  const state = current.value?.state.value;
  if (!state) return "off";
  if (state.asks?.length || state.calls) return "ask";
  if (state.error) return "bad";
  return state.status === "running" || state.status === "pending" ? "go" : "off";
}

function showTitle() {
  const {name} = route.value;
  const words = (name === "chat" && openChat()?.title) || NAMES[name];
  const needs = chats.needs.value;
  document.title = `${needs ? `(${needs}) ` : ""}${words ? `${words} · ` : ""}${PROGRAM}`;
}

function showLight() {
  const link = document.querySelector("link[rel=icon]");
  if (!(link instanceof HTMLLinkElement)) return;
  const wanted = new URL(`${lightOf()}.svg`, link.href).href;
  if (link.href !== wanted) link.href = wanted;
}

/** Keep both up to date from now on. */
export function followTitle() {
  effect(showTitle);
  effect(showLight);
}
