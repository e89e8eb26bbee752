/**
 * Sounds and notifications for a person who looks elsewhere, as they prefer it. The tab that leads
 * gives them, and only while no tab of this browser is looked at.
 */

import { chats } from "./chats_store.js";
import { preferences } from "./preferences.js";
import { go } from "./routes.js";
import { me } from "./session.js";
import { lightOf } from "./state/lights.js";
import { noticeOf } from "./state/notices.js";
import { between } from "./state/same.js";
import { effect } from "./ui.js";
import { tabs } from "./wire/tabs.js";
import { hearWatch } from "./wire/watch.js";

const SEEN = "promptcorner.seen"; // the lock that every tab holds while it is looked at

/** @type {Map<string, import("./state/lights.js").Light>} */
const lights = new Map();

/** Follow the news from now on. */
export function followNotices() {
  document.addEventListener("visibilitychange", holdWhileSeen);
  holdWhileSeen();
  // A list that is read again may show changes whose events were lost with the line.
  /** @type {readonly import("./state/notices.js").Chat[]} */
  let before = [];
  effect(() => {
    const { roots } = chats.list.value;
    const come = between(before, roots);
    before = roots;
    for (const root of come) {
      note(root);
      root.children.forEach(note);
    }
  });
  hearWatch((event) => event.chat && void hear(event.chat));
}

/** Take a chat as the list has it. A chat that was not known only has its light remembered. @param {import("./state/notices.js").Chat} chat */
function note(chat) {
  if (lights.has(chat.id)) void hear(chat);
  else lights.set(chat.id, lightOf(chat));
}

/** @param {import("./state/notices.js").Chat} chat */
async function hear(chat) {
  if (chat.owner_id !== me.peek()?.id) return;
  const notice = noticeOf(lights.get(chat.id), chat);
  lights.set(chat.id, lightOf(chat));
  if (!notice || !tabs.leads.peek() || (await isLookedAt())) return;
  if (preferences.sound.peek() && notice.kind !== "asks") playTone();
  if (preferences.notify.peek()) show(notice);
}

/** @param {import("./state/notices.js").Notice} notice */
function show({ chat, title, body }) {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  try {
    const shown = new Notification(title, { body, tag: chat });
    shown.onclick = () => {
      window.focus();
      void go(`/c/${chat}`);
      shown.close();
    };
  } catch {
    // Browsers of phones have them for service workers only.
  }
}

/** @type {(() => void) | null} */
let letGo = null;

function holdWhileSeen() {
  letGo?.();
  letGo = null;
  if (document.visibilityState !== "visible" || !("locks" in navigator)) return;
  const held = new Promise((resolve) => (letGo = () => resolve(undefined)));
  void navigator.locks.request(SEEN, { mode: "shared" }, () => held);
}

async function isLookedAt() {
  if (!("locks" in navigator)) return document.visibilityState === "visible";
  const { held = [] } = await navigator.locks.query();
  return held.some((lock) => lock.name === SEEN);
}

/** Two soft notes. Browsers are silent until the page has been clicked once. */
export function playTone() {
  const sound = new AudioContext();
  [660, 880].forEach((pitch, at) => {
    const note = sound.createOscillator(), loud = sound.createGain(), begin = sound.currentTime + at * 0.14;
    note.frequency.value = pitch;
    loud.gain.setValueAtTime(0, begin);
    loud.gain.linearRampToValueAtTime(0.12, begin + 0.02);
    loud.gain.exponentialRampToValueAtTime(0.001, begin + 0.35);
    note.connect(loud).connect(sound.destination);
    note.start(begin);
    note.stop(begin + 0.4);
  });
  setTimeout(() => void sound.close(), 1000);
}
