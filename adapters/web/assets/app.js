/** The page: three regions, and what lies over them. */

import {Columns} from "./columns.js";
import {current} from "./current.js";
import {isEmbedded} from "./embed.js";
import {listFolded, listWidth, panelFull, panelOpen, panelWidth, registerFrame, view} from "./frame.js";
import {followKeys} from "./keys.js";
import {afterPaint, drawFirst} from "./kernel/first_paint.js";
import {closeOverlay, overlay} from "./overlay.js";
import {ListPlace} from "./places.js";
import {followAddress, route} from "./routes.js";
import {needsLogin} from "./session.js";
import {later} from "./shared/later.js";
import {Toasts} from "./shared/toast.js";
import {followLook} from "./theme.js";
import {html, render, useEffect, useState} from "./ui.js";
import {askVersion, followVersion} from "./version.js";

/**
 * A page of a module that is loaded when it is asked for. A module that is not there any more is one
 * of another version: the page has to be loaded anew.
 * @param {{load: () => Promise<any>}} props
 */
function Later({load}) {
  const [View, set] = useState(/** @type {any} */ (null));
  const [failed, fail] = useState(false);
  useEffect(() => {
    load().then((view) => set(() => view), async () => ((await askVersion()) ? location.reload() : fail(true)));
  }, [load]);
  if (!failed) return View && html`<${View} />`;
  return html`<div class="page"><h1>This page could not be loaded</h1>
    <p>The daemon did not answer. <button class="btn" onClick=${() => location.reload()}>Try again</button></p>
  </div>`;
}

const Edges = later(() => afterPaint().then((module) => module.Edges));
const List = later(() => afterPaint().then((module) => module.List), ListPlace);
const Login = later(() => import("./login/login.js").then((module) => module.Login));
const NewChat = later(() => import("./list/new.js").then((module) => module.NewChat));
const Panel = later(() => import("./panel/panel.js").then((module) => module.Panel));
const settings = () => import("./settings/settings.js").then((module) => module.SettingsPage);
const desktop = later(() => import("./panel/desktop.js").then((module) => module.loadAlone()));
const search = () => import("./list/search.js").then((module) => module.SearchPage);

function Stage() {
  switch (route.value.name) {
    case "chat":
      if (route.value.query.get("view") === "desktop") return html`<${desktop} chat=${route.value.chat} />`;
      return html`<${Columns} />`;
    case "settings":
    case "admin":
      return html`<${Later} key="settings" load=${settings} />`;
    case "search":
      return html`<${Later} key="search" load=${search} />`;
    case "nowhere":
      return html`<div class="page"><h1>There is nothing at this address</h1>
        <p><a href="/">To the chats</a></p></div>`;
    default:
      return html`<${NewChat} />`;
  }
}

/** The first thing that the tabulator reaches. */
function Skip() {
  const skip = (/** @type {Event} */ event) => {
    event.preventDefault();
    const composer = document.getElementById("message");
    /** @type {HTMLElement | null} */ (composer || document.querySelector("main"))?.focus();
  };
  return html`<a class="skip" href="#message" onClick=${skip}>Skip to the message field</a>`;
}

function App() {
  const conversation = current.value;
  const Over = overlay.value;
  const shown = panelOpen.value;
  const widths = {"--list": `${listWidth.value}px`, "--panel": `${panelWidth.value}px`};
  return html`
    <${Skip} />
    <div class="app" data-view=${view.value} style=${widths}
      data-list=${listFolded.value || isEmbedded ? "folded" : "open"} data-panel=${conversation && shown ? (panelFull.value ? "full" : "open") : "folded"}>
      ${!isEmbedded && html`<${List} />`}
      <main class="stage" tabindex="-1" data-page=${route.value.name}><${Stage} /></main>
      ${conversation && shown && html`<${Panel} key=${conversation.id} conversation=${conversation} />`}
      <${Edges} />
    </div>
    <${Toasts} />
    ${Over && html`<${Over} onClose=${closeOverlay} />`}
    ${needsLogin.value && html`<${Login} />`}
  `;
}

registerFrame();
followLook();
followVersion();
followAddress();
followKeys();
if (route.peek().name !== "chat") drawFirst();
const place = document.getElementById("app");
place?.replaceChildren(); // takes away the words for a page whose script does not run
if (place) render(html`<${App} />`, place);
// If it cannot be loaded, the daemon may have another version. Nothing has been typed yet.
afterPaint().catch(async () => (await askVersion()) && location.reload());
