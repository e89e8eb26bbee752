/** Servers of tools at which a person logs in, so that their chats can use them. */
import {html, useEffect} from "../../ui.js";
import {me} from "../../session.js";
import {ask} from "../../shared/dialog.js";
import {toast} from "../../shared/toast.js";
import {api} from "../../wire/api.js";
import {Loaded, useLoaded} from "../loading.js";
import {Act, Page, Row, Rows, Tag} from "../page.js";

/** Return the address of the organization's servers. */
export function serversPath() {
  return `/api/experimental/organizations/${me.peek()?.organization_ids[0]}/mcp-servers`;
}

export function View() {
  const loaded = useLoaded(() => api.get(serversPath()));
  useEffect(() => onReturn(loaded.again), []);
  return html`<${Page} title="Tool servers" lead="Servers whose tools your chats can use. Some want to know who you are: log in once, and your chats use them in your name.">
    <${Loaded} of=${loaded}>${(/** @type {any[]} */ servers) => html`<${Rows} empty="There are no tool servers here. An administrator can set them up.">
      ${servers.filter((each) => each.enabled).map((each) => html`<${Server} key=${each.id} server=${each} again=${loaded.again} />`)}
    <//>`}<//>
  <//>`;
}

/** The log-in happens in another window: look again when it says so, or when the person comes back. @param {() => Promise<void>} again */
export function onReturn(again) {
  const told = (/** @type {MessageEvent} */ event) => {
    if (event.origin === location.origin && event.data?.type === "mcp-oauth2-complete") void again();
  };
  const back = () => { if (document.visibilityState === "visible") void again(); };
  addEventListener("message", told);
  addEventListener("focus", back);
  return () => { removeEventListener("message", told); removeEventListener("focus", back); };
}

/** @param {{server: any, again: () => Promise<void>}} props */
function Server({ server, again }) {
  return html`<${Row} title=${server.display_name} tags=${tagsOf(server)} more=${server.fault || server.description || server.slug}
    side=${server.auth_type === "oauth2" && html`<${LogIn} server=${server} again=${again} />`} />`;
}

/** @param {any} server */
function tagsOf(server) {
  return html`
    ${server.availability === "force_on" && html`<${Tag}>always on<//>`}
    ${server.fault && html`<${Tag} tone="bad">could not be used<//>`}
    ${server.auth_type === "oauth2" && (server.auth_connected ? html`<${Tag} tone="go">logged in<//>` : html`<${Tag} tone="wait">not logged in<//>`)}`;
}

/** The button to log in at a server, or out of it. @param {{server: any, again: () => Promise<void>}} props */
export function LogIn({ server, again }) {
  const leave = async () => {
    const question = { title: `Log out of ${server.display_name}?`, text: "Your chats cannot use it until you log in again.", yes: "Log out", danger: true };
    if (!(await ask(question))) return;
    const answer = await api.del(`/api/experimental/mcp/servers/${server.id}/oauth2/disconnect`);
    if (!answer.token_revoked) toast(`Forgotten here, but the server may still take the old token: ${answer.token_revocation_error ?? "it gave no reason"}`);
    await again();
  };
  if (server.auth_connected) return html`<${Act} class="btn bad" run=${leave}>Log out<//>`;
  return html`<a class="btn" target="_blank" href="${serversPath()}/${server.id}/oauth2/connect">Log in…</a>`;
}
