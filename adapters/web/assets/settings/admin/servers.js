/** Servers of tools, set up for all. */
import {html, useEffect} from "../../ui.js";
import {icon} from "../../shared/icons.js";
import {api} from "../../wire/api.js";
import {Loaded, useLoaded} from "../loading.js";
import {Page, Row, Rows, Tag} from "../page.js";
import {onReturn, serversPath} from "../personal/servers.js";
import {EditServer, NewServer} from "./server.js";

const HERE = "/admin/servers";

/** @param {{rest: string}} props */
export function View({ rest }) {
  if (rest === "new") return html`<${NewServer} />`;
  return rest ? html`<${EditServer} key=${rest} id=${rest} />` : html`<${All} />`;
}

function All() {
  const loaded = useLoaded(() => api.get(serversPath()));
  useEffect(() => onReturn(loaded.again), []);
  const act = html`<a class="btn main" href="${HERE}/new">${icon("plus")} Add a server</a>`;
  return html`<${Page} title="Tool servers" lead="Servers that speak MCP, whose tools chats can use. A workspace may name further ones for itself." act=${act}>
    <${Loaded} of=${loaded}>${(/** @type {any[]} */ servers) => html`<${Rows} empty="There are no tool servers yet.">
      ${servers.map((each) => html`<${Row} key=${each.id} href="${HERE}/${each.id}" mark=${each.fault ? "bad" : each.enabled ? "go still" : "off"} title=${each.display_name} tags=${tagsOf(each)} more=${each.fault || each.description || each.url} />`)}
    <//>`}<//>
  <//>`;
}

/** @param {any} server */
function tagsOf(server) {
  return html`
    ${server.availability === "force_on" && html`<${Tag}>always on<//>`}
    ${server.auth_type === "oauth2" && html`<${Tag}>log-in<//>`}
    ${!server.enabled && html`<${Tag}>switched off<//>`}
    ${server.fault && html`<${Tag} tone="bad">could not be used<//>`}`;
}
