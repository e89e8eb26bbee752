/** The templates of workspaces, as their files say. */
import {html} from "../../ui.js";
import {api} from "../../wire/api.js";
import {Loaded, useLoaded} from "../loading.js";
import {Page, Row, Rows, Tag} from "../page.js";

export function View() {
  const loaded = useLoaded(() => api.get("/api/v2/templates"));
  return html`<${Page} title="Workspace templates" lead="What workspaces are made of. A template is a file on the daemon's machine, and is changed there.">
    <${Loaded} of=${loaded}>${(/** @type {any[]} */ found) => html`<${Rows} empty="There are no templates.">
      ${found.map((each) => html`<${Row} key=${each.id} mark=${each.error ? "bad" : undefined} title=${each.display_name || each.name} tags=${each.error && html`<${Tag} tone="bad">cannot be read<//>`} more=${each.error || moreOf(each)} />`)}
    <//>`}<//>
  <//>`;
}

/** @param {any} template */
function moreOf({ description, git, branch, limits }) {
  const source = git && `${git}${branch ? ` at ${branch}` : ""}`;
  const memory = limits && `${limits.memory_mb} MB of memory, ${limits.disk_mb} MB on disk`;
  return [description, source, memory].filter(Boolean).join(" · ");
}
