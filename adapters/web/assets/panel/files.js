// The files of the chat's workspace: folders to walk through, files to look at, download and refer to.

import { html, useEffect, useMemo, useRef, useSignal } from "../ui.js";
import { run } from "../commands.js";
import { sizeText } from "../composer/limits.js";
import { isMine } from "../list/acts.js";
import { icon } from "../shared/icons.js";
import { usePart } from "../shared/part.js";
import { address, api } from "../wire/api.js";
import { crumbsOf, isShown, parentOf } from "./file_paths.js";
import { FileView } from "./file_view.js";

/** @typedef {import("./file_paths.js").Entry} Entry */

const PAGE = 500; // entries; more are shown when they are asked for

/** @param {import("./panel.js").About} props */
export function Files({ conversation }) {
  const chat = usePart(conversation, (state) => state.chat);
  if (!chat?.workspace_id) return html`<div class="pbody"><p class="none">This chat has no workspace, so it has no files.</p></div>`;
  if (!isMine(chat)) return html`<div class="pbody"><p class="none">The files are seen by the owner of the chat.</p></div>`;
  return html`<${Browser} key=${chat.workspace_id} workspace=${chat.workspace_id} />`;
}

/** @param {{workspace: string}} props */
function Browser({ workspace }) {
  const base = `/api/v2/workspaces/${workspace}/files`;
  const path = useSignal("");
  const open = useSignal(/** @type {Entry | null} */ (null));
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const folder = useFolder(base, path);
  const go = (/** @type {string} */ to) => {
    open.value = null;
    path.value = to;
    list.current?.querySelector("button")?.focus();
  };
  const back = () => {
    const { name } = /** @type {Entry} */ (open.peek());
    open.value = null;
    requestAnimationFrame(() => /** @type {HTMLElement | null} */ (list.current?.querySelector(`[data-name="${CSS.escape(name)}"]`))?.focus());
  };
  return html`<nav class="crumbs" aria-label="Folder">${crumbsOf(path.value).map((each, at, all) => html`<button type="button" class="link" key=${each.path}
        aria-current=${at === all.length - 1 && !open.value ? "location" : undefined} onClick=${() => go(each.path)}>${each.name}</button>`)}
      <span class="sp"></span>
      <button type="button" class="ic sm" aria-label="Read the folder again" title="Read the folder again" onClick=${() => void folder.read()}>${icon("retry")}</button>
      <a class="ic sm" href=${address(`${base}/archive`, { path: path.value })} download aria-label="Download the folder" title="Download the folder">${icon("download")}</a></nav>
    <div class="pbody" ref=${list}>${open.value ? html`<${FileView} key=${open.value.path} base=${base} entry=${open.value} back=${back} />` : html`<${Entries} folder=${folder} path=${path.value} go=${go} open=${open} base=${base} />`}</div>`;
}

/** What is in a folder, read when it is shown. @param {string} base @param {import("../ui.js").Signal<string>} path */
function useFolder(base, path) {
  const entries = useSignal(/** @type {Entry[] | null} */ (null));
  const count = useSignal(0);
  const said = useSignal("");
  const folder = useMemo(() => {
    let asked = 0;
    return {
      entries, count, said,
      async read(more = false) {
        const number = (asked += 1);
        const before = more ? entries.peek() ?? [] : [];
        try {
          const found = await api.get(base, { path: path.peek(), limit: PAGE, offset: before.length });
          if (number !== asked) return;
          [entries.value, count.value, said.value] = [[...before, ...found.entries], found.count, found.is_cut ? "There are more entries than are listed." : ""];
        } catch (error) {
          if (number !== asked) return;
          const { status, message, detail } = /** @type {import("../wire/api.js").ApiError} */ (error);
          [entries.value, said.value] = [before, status === 404 ? "This folder is not there any more." : `The folder could not be read: ${detail || message}`];
        }
      },
    };
  }, [base]);
  useEffect(() => {
    entries.value = null;
    void folder.read();
  }, [folder, path.value]);
  return folder;
}

/** @param {{folder: ReturnType<typeof useFolder>, path: string, go: (path: string) => void, open: import("../ui.js").Signal<Entry | null>, base: string}} props */
function Entries({ folder, path, go, open, base }) {
  const { entries, count, said } = folder;
  if (!entries.value) return html`<p class="none late" role="status">Reading the folder…</p>`;
  const rest = count.value - entries.value.length;
  return html`${said.value ? html`<p class="none err" role="alert">${said.value}</p>` : null}
    <ul class="entries" aria-label="Files">
      ${path ? html`<li><button type="button" class="fi" onClick=${() => go(parentOf(path))}>${icon("back")}<span class="what">Up</span></button></li>` : null}
      ${entries.value.map((entry) => html`<${Row} key=${entry.name} entry=${entry} base=${base} onOpen=${() => (entry.kind === "directory" ? go(entry.path ?? "") : (open.value = entry))} />`)}
    </ul>
    ${entries.value.length || said.value ? null : html`<p class="none">This folder is empty.</p>`}
    ${rest > 0 ? html`<p class="none"><button type="button" class="btn" onClick=${() => void folder.read(true)}>Show more of ${rest}</button></p>` : null}`;
}

/** @param {{entry: Entry, base: string, onOpen: () => void}} props */
function Row({ entry, base, onOpen }) {
  const { name, kind, path } = entry;
  const ignored = entry.is_ignored ? html` <span class="dim">ignored</span>` : null;
  const facts = kind === "file" ? sizeText(entry.size_bytes) : kind === "link" ? `→ ${entry.link_to ?? ""}` : kind === "other" ? "pipe or device" : "";
  const body = html`${icon(kind === "directory" ? "files" : kind === "link" ? "link" : "file")}<span class="what">${name}${kind === "directory" ? "/" : ""}</span><span class="r num">${ignored} ${facts}</span>`;
  if (!isShown(entry)) return html`<li class=${entry.is_ignored ? "ignored" : ""}><span class="fi">${body}</span></li>`;
  return html`<li class=${entry.is_ignored ? "ignored" : ""}><button type="button" class="fi" data-name=${name} onClick=${onOpen}>${body}</button>
    ${kind === "file" ? html`<button type="button" class="ic sm" aria-label=${`Refer to ${name}`} title="Put the path into the message" onClick=${() => run("composer.insert", { text: `\`${path}\` ` })}>${icon("pen")}</button>
    <a class="ic sm" href=${address(`${base}/content`, { path, download: true })} download aria-label=${`Download ${name}`} title="Download">${icon("download")}</a>` : null}</li>`;
}
