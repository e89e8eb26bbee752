/** The title of the tab says how much needs the user; its icon is the cue light of the open chat. */

import {chats} from "./chats_store.js";
import {current} from "./current.js";
import {route} from "./routes.js";
import {familyLight} from "./state/lights.js";
import {effect} from "./ui.js";

const PROGRAM = "promptcorner";
const NAMES = {
  home: "", chat: "Chat", new: "New chat", search: "Search", settings: "Settings",
  admin: "Administration", nowhere: "Nothing here",
};

/** @returns {any} the open chat, as far as it is known */
function openChat() {
  if (route.value.name !== "chat") return null;
  const state = current.value?.state.value;
  const chat = state?.chat || chats.find(route.value.chat);
  return chat && state ? {...chat, status: state.status || chat.status, approvals: state.asks} : chat || null;
}

function showTitle() {
  const {name} = route.value;
  const words = (name === "chat" && openChat()?.title) || NAMES[name];
  const needs = chats.needs.value;
  document.title = `${needs ? `(${needs}) ` : ""}${words ? `${words} · ` : ""}${PROGRAM}`;
}

/** The light of the open chat. What is open is read, so that it is never unread. */
function lightOfChat() {
  const light = openChat() ? familyLight(openChat()) : "off";
  return light === "new" ? "off" : light;
}

function showLight() {
  const link = document.querySelector("link[rel=icon]");
  if (!(link instanceof HTMLLinkElement)) return;
  const wanted = new URL(`${lightOfChat()}.svg`, link.href).href;
  if (link.href !== wanted) link.href = wanted;
}

/** Keep both up to date from now on. */
export function followTitle() {
  effect(showTitle);
  effect(showLight);
}
