// The line on which the daemon tells of the repositories in a chat's workspace. It is dialled as long as it is shown.

import { signal } from "../ui.js";
import { address, api } from "../wire/api.js";
import { dialSocket } from "../wire/dial.js";
import { afterMessage } from "./tree_files.js";

const WAIT_MS = 1_000; // before a line that broke is dialled again; twice as long each time
const WAIT_MS_MAX = 30_000;

/** @typedef {ReturnType<typeof treeLine>} TreeLine */

/** Dial the line of a chat. @param {string} chat */
export function treeLine(chat) {
  const repositories = signal(/** @type {readonly import("./tree_files.js").TreeRepository[]} */ ([]));
  const state = signal(/** @type {"dialling" | "open" | "none"} */ ("dialling"));
  const trouble = signal("");
  const path = address(`chats/${chat}/stream/git`);
  let hangUp = () => {}, timer = 0, wait = WAIT_MS, fresh = true, isOver = false, dials = 0;

  function dial() {
    clearTimeout(timer);
    hangUp();
    dials += 1;
    let wasOpen = false;
    fresh = true; // the first message says all that there is
    hangUp = dialSocket(path, {
      open: () => void (wasOpen = true),
      data: (message) => {
        wait = WAIT_MS;
        if (message.type === "error") return void (trouble.value = message.message);
        if (fresh || message.repositories) trouble.value = "";
        repositories.value = afterMessage(fresh ? [] : repositories.peek(), message);
        fresh = false;
        state.value = "open";
      },
      closed: () => void (wasOpen ? later() : refused()),
    });
  }

  function later() {
    if (isOver) return;
    timer = setTimeout(dial, wait);
    wait = Math.min(2 * wait, WAIT_MS_MAX);
  }

  /** A browser does not tell why a socket was refused: the same request without one does. */
  async function refused() {
    const before = dials;
    const error = await api.get(path).catch((/** @type {any} */ why) => why);
    if (isOver || dials !== before) return; // it is dialled again
    if (error?.status !== 400) return later();
    [state.value, trouble.value] = ["none", error.message];
  }

  dial();
  return {
    repositories, state, trouble,
    again: () => {
      [state.value, trouble.value] = ["dialling", ""];
      dial();
    },
    close: () => {
      isOver = true;
      clearTimeout(timer);
      hangUp();
    },
  };
}
