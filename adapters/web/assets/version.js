/** Whether the daemon has another version of this page than the one that runs here. */

import {holdsRoute} from "./routes.js";
import {digest} from "./shell.js";
import {effect, signal} from "./ui.js";
import {watchLine} from "./wire/watch.js";

/** Whether there is a new version. */
export const isOld = signal(false);

const PAUSE_MS = 60_000; // between two questions
let askedAt = 0;

/** Ask the daemon, and note it. @returns {Promise<boolean>} */
export async function askVersion() {
  askedAt = Date.now();
  try {
    const answer = await fetch("/web/version", {cache: "no-store"});
    if (answer.ok) isOld.value = (await answer.json()).digest !== digest;
  } catch {
    // the line says that the daemon is away
  }
  return isOld.value;
}

/** Whether something was typed that has not been sent or saved. */
function isUnsent() {
  const typed = /** @type {NodeListOf<HTMLTextAreaElement>} */ (document.querySelectorAll("textarea"));
  return holdsRoute() || !!document.querySelector("dialog[open]") || [...typed].some((each) => each.value);
}

function reloadUnseen() {
  if (document.hidden && isOld.value && !isUnsent()) location.reload();
}

/** Ask whenever the daemon is there again, and when somebody returns to the page. */
export function followVersion() {
  let before = "";
  effect(() => {
    const {state} = watchLine.value;
    if (state === "live" && before === "broken") askVersion();
    before = state;
  });
  addEventListener("module-missing", askVersion); // it may be one of another version
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) reloadUnseen();
    else if (Date.now() - askedAt > PAUSE_MS) askVersion();
  });
}
