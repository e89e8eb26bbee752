// The shells of one's own workspace, beside the commands of the chat.

import { html, useEffect, useSignal } from "../ui.js";
import { ApiError, api } from "../wire/api.js";
import { icon } from "../shared/icons.js";
import { terminalsOf } from "../wire/terminal_line.js";
import { Shell } from "./shell.js";

/** @typedef {{id: string, created_at: string}} Facts @typedef {import("../ui.js").Signal<Facts[]>} List */

const UNREAD = "The shells could not be read";
const READ_MS = 10_000; // between looks at which shells there are, for those of other pages

/**
 * The shells of a workspace as buttons, and the one that is shown; with none the commands are shown.
 * @param {{workspace: string, children?: any}} props
 */
export function Shells({ workspace, children }) {
  const list = useSignal(/** @type {Facts[]} */ ([]));
  const shown = useSignal("");
  const said = useSignal("");
  const isOff = useSignal(false);
  useEffect(() => {
    const look = () => void read(workspace, list, said, isOff);
    look();
    const timer = setInterval(look, READ_MS);
    return () => clearInterval(timer);
  }, [workspace]);
  if (isOff.value) return children;
  const open = list.value.find((each) => each.id === shown.value) || (shown.value && { id: shown.value, created_at: "" });
  return html`<div class="shells" role="group" aria-label="Shells">
      <button type="button" class="btn sm" aria-pressed=${!open} onClick=${() => (shown.value = "")}>Commands</button>
      ${list.value.map((each, at) => html`<button type="button" class="btn sm" key=${each.id} aria-pressed=${shown.value === each.id}
        onClick=${() => (shown.value = each.id)}>Shell ${at + 1}</button>`)}
      <button type="button" class="btn sm" onClick=${() => void start(workspace, list, shown, said)}>${icon("plus")} New shell</button>
      ${open ? html`<button type="button" class="ic sm" aria-label="End this shell" title="End this shell" onClick=${() => void end(workspace, list, shown, said)}>${icon("trash")}</button>` : null}
    </div>
    ${said.value ? html`<p class="none err" role="alert">${said.value}</p>` : null}
    ${open ? html`<${Shell} key=${open.id} workspace=${workspace} id=${open.id} onEnd=${() => (list.value = list.value.filter((each) => each.id !== open.id))} />` : children}`;
}

/**
 * @param {string} workspace @param {List} list @param {import("../ui.js").Signal<string>} said
 * @param {import("../ui.js").Signal<boolean>} isOff set where the daemon has terminals switched off
 */
async function read(workspace, list, said, isOff) {
  const before = list.peek();
  try {
    const { terminals } = await api.get(terminalsOf(workspace));
    if (list.peek() === before) list.value = terminals; // else one was started or ended meanwhile
    if (said.peek().startsWith(UNREAD)) said.value = "";
  } catch (error) {
    isOff.value = /** @type {ApiError} */ (error).status === 403;
    said.value = isOff.value ? "" : words(UNREAD, error);
  }
}

/** @param {string} workspace @param {List} list @param {import("../ui.js").Signal<string>} shown @param {import("../ui.js").Signal<string>} said */
async function start(workspace, list, shown, said) {
  said.value = "";
  try {
    const made = await api.post(terminalsOf(workspace), {});
    list.value = [...list.value, made];
    shown.value = made.id;
  } catch (error) {
    said.value = words("No shell was started", error);
  }
}

/** @param {string} workspace @param {List} list @param {import("../ui.js").Signal<string>} shown @param {import("../ui.js").Signal<string>} said */
async function end(workspace, list, shown, said) {
  const id = shown.value;
  shown.value = "";
  list.value = list.value.filter((each) => each.id !== id);
  try {
    await api.del(`${terminalsOf(workspace)}/${id}`);
  } catch (error) {
    if (/** @type {ApiError} */ (error).status !== 404) said.value = words("The shell was not ended", error);
  }
}

/** @param {string} what @param {unknown} error */
function words(what, error) {
  const { message, detail } = /** @type {ApiError} */ (error);
  return `${what}: ${detail || message}`;
}
