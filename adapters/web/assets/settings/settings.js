/** The settings of a person, and of the deployment for its administrators: pages with a list beside them. */
import {html, useEffect, useRef, useState} from "../ui.js";
import {route} from "../routes.js";
import {isAdmin} from "../session.js";
import {icon} from "../shared/icons.js";
import {loadSheet} from "../shared/sheet.js";
import {Failed} from "./loading.js";
import {ADMIN, PERSONAL, pageAt} from "./table.js";

/** The settings, once their sheet is there. */
export function SettingsPage() {
  const [isStyled, setStyled] = useState(false);
  useEffect(() => void loadSheet("settings/settings.css").then(() => setStyled(true)), []);
  return isStyled && html`<${Settings} />`;
}

function Settings() {
  const { path } = route.value;
  const isOfAdmin = path.startsWith("/admin");
  const isHidden = isOfAdmin && !isAdmin.value;
  const { page, rest } = isHidden ? { page: undefined, rest: "" } : pageAt(path);
  const isIndex = !page && ["/settings", "/admin"].includes(path.replace(/\/$/, ""));
  const first = (isOfAdmin ? ADMIN : PERSONAL)[0].pages[0];
  return html`<header class="top">
      <a class="ic only-s" href=${above(page, rest, isOfAdmin)} aria-label="Back">${icon("back")}</a>
      <h1>Settings</h1>
      <span class="sp"></span>
      ${isAdmin.value && html`<span class="seg" role="group" aria-label="Whose settings">
        <a href="/settings" aria-current=${isOfAdmin ? undefined : "true"}>Mine</a>
        <a href="/admin" aria-current=${isOfAdmin ? "true" : undefined}>Administration</a>
      </span>`}
      <a class="ic only-l" href="/" aria-label="Close the settings">${icon("x")}</a>
    </header>
    <div class="set" data-shows=${page ? "page" : "index"}>
    <${Index} groups=${isOfAdmin && !isHidden ? ADMIN : PERSONAL} path=${page?.path ?? (isIndex ? first.path : "")} />
    <${Main} path=${path}>
      ${isIndex && !isHidden ? html`<${Opened} key=${first.path} page=${first} rest="" />` : page ? html`<${Opened} key=${page.path} page=${page} rest=${rest} />` : html`<${Nothing} />`}
    <//>
  </div>`;
}

/** The page itself: another one begins at its top, and takes the focus if that was lost. @param {{path: string, children: any}} props */
function Main({ path, children }) {
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  const isFirst = useRef(true);
  useEffect(() => {
    const active = /** @type {HTMLElement | null} */ (document.activeElement);
    if (element.current) element.current.scrollTop = 0;
    if (!isFirst.current && !active?.offsetParent) element.current?.focus();
    isFirst.current = false;
  }, [path]);
  return html`<div class="set-main" ref=${element} tabindex="-1">${children}</div>`;
}

/** Where a phone goes back to. @param {any} page @param {string} rest @param {boolean} isOfAdmin */
function above(page, rest, isOfAdmin) {
  if (rest) return page.path;
  return page ? (isOfAdmin ? "/admin" : "/settings") : "/";
}

/** @param {{groups: typeof PERSONAL, path: string}} props */
function Index({ groups, path }) {
  return html`<nav class="set-nav" aria-label="Pages of the settings">
    ${groups.map((group) => html`<section key=${group.title}>
      <h2>${group.title}</h2>
      ${group.pages.map((page) => html`<a key=${page.path} href=${page.path} aria-current=${page.path === path ? "page" : undefined}>${icon(page.icon)}<span>${page.title}</span><i aria-hidden="true">${icon("chev")}</i></a>`)}
    </section>`)}
  </nav>`;
}

function Nothing() {
  return html`<div class="set-empty"><p>There is no such page.</p><a class="btn" href="/settings">All settings</a></div>`;
}

/** A page, once its module is there. @param {{page: import("./table.js").SettingsEntry, rest: string}} props */
function Opened({ page, rest }) {
  const [module, setModule] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const load = () => page.load().then((found) => { setError(null); setModule(found); }, (detail) => {
    setError({ message: "a part of this page did not come" });
    dispatchEvent(new CustomEvent("module-missing", { detail }));
  });
  useEffect(() => { void load(); }, [page]);
  // A browser does not ask again for a module that did not come: only a page that is read anew does.
  if (error) return html`<${Failed} error=${error} again=${async () => location.reload()} />`;
  return module && html`<${module.View} rest=${rest} />`;
}
