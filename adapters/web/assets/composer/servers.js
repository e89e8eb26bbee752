// Servers of tools: which of them this chat may use, and logging in to those that want it.

import { html, useEffect, useSignal } from "../ui.js";
import { api } from "../wire/api.js";
import { me } from "../session.js";
import { icon } from "../shared/icons.js";
import { Popover } from "../shared/popover.js";

/** @typedef {import("./composer.js").Place} Place */
/** @typedef {{id: string, display_name: string, description: string, availability: string, auth_type: string, auth_connected: boolean, fault?: string}} Server */

const LOGIN_LOOK_MS = 2000; // between two looks whether somebody has logged in
const LOGIN_LOOKS = 150; // five minutes; then the button says "Log in" again

const base = () => `/api/experimental/organizations/${me.peek()?.organization_ids[0]}/mcp-servers`;

/** @param {{place: Place, anchor: HTMLElement | null, close: () => void}} props */
export function ServersPopover({ place, anchor, close }) {
  const servers = useSignal(/** @type {Server[] | null} */ (null));
  const why = useSignal("");
  const read = async () => {
    try {
      servers.value = (await api.get(base())).filter((/** @type {any} */ server) => server.enabled);
    } catch (error) {
      why.value = `The servers could not be read: ${/** @type {Error} */ (error).message}`;
    }
    return servers.value ?? [];
  };
  useEffect(() => void read(), []);
  const list = servers.value;
  return html`<${Popover} anchor=${anchor} label="Tool servers" className="servers" onClose=${close}>
    <div class="picker"><h4>Tool servers</h4>
      ${list?.map((server) => html`<${ServerRow} key=${server.id} server=${server} place=${place} servers=${list} read=${read} />`)}
      ${list && !list.length ? html`<p class="none">No server of tools is set up. An administrator adds them in the settings.</p>` : null}
      ${list ? null : html`<p class="none" role="status">${why.value || "Reading the servers…"}</p>`}
      <p class="none dim">A change goes along with your next message.</p>
    </div>
  <//>`;
}

/** Return the ids that the chat may use. @param {Place} place @param {Server[]} servers */
function usedBy({ desk, conversation, chat }, servers) {
  const chosen = desk.fresh.value.servers;
  if (chosen) return chosen;
  if (conversation) return chat.value?.mcp_server_ids ?? [];
  return servers.filter((server) => server.availability !== "default_off").map((server) => server.id);
}

/** @param {{server: Server, place: Place, servers: Server[], read: () => Promise<Server[]>}} props */
function ServerRow({ server, place, servers, read }) {
  const used = usedBy(place, servers);
  const forced = server.availability === "force_on";
  const on = forced || used.includes(server.id);
  const set = (/** @type {boolean} */ to) => {
    const ids = usedBy(place, servers).filter((/** @type {string} */ id) => id !== server.id); // as it is now: logging in takes a while
    place.desk.fresh.value = { ...place.desk.fresh.peek(), servers: to ? [...ids, server.id] : ids };
  };
  const wants = server.auth_type === "oauth2" && !server.auth_connected;
  return html`<div class="server">
    <label><input type="checkbox" role="switch" checked=${on} disabled=${forced || wants}
      onChange=${(/** @type {any} */ event) => set(event.currentTarget.checked)} />
      <span class="what">${server.display_name}</span></label>
    ${wants ? html`<${LogIn} server=${server} read=${read} done=${() => set(true)} />` : null}
    <small class=${server.fault ? "err" : ""}>${server.fault || (forced ? "Always on." : "")} ${server.fault ? "" : server.description}</small>
  </div>`;
}

/** @param {{server: Server, read: () => Promise<Server[]>, done: () => void}} props */
function LogIn({ server, read, done }) {
  const waits = useSignal(false);
  const begin = async () => {
    open(`${base()}/${server.id}/oauth2/connect`, "_blank", "popup,width=620,height=720");
    waits.value = true;
    for (let look = 0; look < LOGIN_LOOKS && waits.peek(); look++) {
      await new Promise((resolve) => setTimeout(resolve, LOGIN_LOOK_MS));
      if ((await read()).find((one) => one.id === server.id)?.auth_connected) return done();
    }
    waits.value = false;
  };
  useEffect(() => () => void (waits.value = false), []);
  return html`<button type="button" class="btn" aria-disabled=${waits.value} onClick=${() => waits.peek() || begin()}>${icon("key")}${waits.value ? "Waiting…" : "Log in"}</button>`;
}
