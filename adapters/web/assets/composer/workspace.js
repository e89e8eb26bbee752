// Where the chat works: one of one's workspaces, a new one, or none.

import { html, useCallback, useEffect, useSignal } from "../ui.js";
import { api } from "../wire/api.js";
import { Picker } from "../shared/combobox.js";
import { Popover } from "../shared/popover.js";
import { patch } from "./acts.js";
import { fitting } from "./words.js";

/** @typedef {import("./composer.js").Place} Place */

const NONE = "00000000-0000-0000-0000-000000000000"; // takes the workspace away
const READ_MAX = 200;

/** @param {{place: Place, anchor: HTMLElement | null, close: () => void}} props */
export function WorkspacePopover({ place, anchor, close }) {
  const { desk, conversation } = place;
  const spaces = useSignal(/** @type {any[]} */ ([]));
  const templates = useSignal(/** @type {any[]} */ ([]));
  const said = useSignal("Reading the workspaces…");
  useEffect(() => void read(spaces, templates, said), []);
  const now = conversation ? place.chat.value?.workspace_id ?? "" : desk.fresh.value.workspace;
  const groups = useCallback(
    (/** @type {string} */ typed) => groupsOf(spaces.value, templates.value, typed, now),
    [spaces.value, templates.value, now],
  );
  const pick = (/** @type {{id: string}} */ { id }) => {
    close();
    if (id.startsWith("make ")) return desk.insert(`Make a workspace from the template "${id.slice(5)}". `);
    if (conversation) void patch(place, { workspace_id: id || NONE });
    else desk.fresh.value = { ...desk.fresh.peek(), workspace: id };
  };
  return html`<${Popover} anchor=${anchor} label="Workspace" onClose=${close}>
    <${Picker} label="Workspace" placeholder="Name of a workspace" groups=${groups} onPick=${pick} empty=${said.value} />
  <//>`;
}

/**
 * @param {import("../vendor/preact.js").Signal<any[]>} spaces @param {import("../vendor/preact.js").Signal<any[]>} templates
 * @param {import("../vendor/preact.js").Signal<string>} said
 */
async function read(spaces, templates, said) {
  try {
    const [found, made] = await Promise.all([
      api.get("/api/v2/workspaces", { q: "owner:me", limit: READ_MAX }), api.get("/api/v2/templates"),
    ]);
    templates.value = made;
    spaces.value = found.workspaces;
    said.value = "No workspace fits.";
  } catch (error) {
    said.value = `The workspaces could not be read: ${/** @type {Error} */ (error).message}`;
  }
}

/** @param {any[]} spaces @param {any[]} templates @param {string} typed @param {string} now */
function groupsOf(spaces, templates, typed, now) {
  const none = { id: "", name: "None", hint: "The chat can make itself one", checked: !now };
  const own = fitting(spaces, typed, (space) => space.name).map((space) => ({
    id: space.id, name: space.name, checked: space.id === now, hint: `${space.template_name} · ${space.status}`,
  }));
  const fresh = fitting(templates.filter((template) => !template.error), typed, (template) => template.name).map((template) => ({
    id: `make ${template.name}`, name: `New: ${template.display_name || template.name}`, icon: "plus",
    hint: template.description || "The chat is asked to make it",
  }));
  return [
    { title: "", items: fitting([none], typed, (item) => item.name) },
    { title: "Yours", items: own },
    { title: "The chat is asked to make one", items: fresh },
  ];
}
