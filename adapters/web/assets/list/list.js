/** The list of chats. */

import {run} from "../commands.js";
import {route} from "../routes.js";
import {icon} from "../shared/icons.js";
import {Strip} from "../strip.js";
import {html, useEffect, useState} from "../ui.js";
import {api} from "../wire/api.js";

export function List() {
  const [chats, set] = useState(/** @type {any[]} */ ([]));
  useEffect(() => {
    api.get("/api/experimental/chats", {limit: 50}).then(set);
  }, [route.value.chat]);
  return html`<nav class="side" aria-label="Chats">
    <header>
      <a class="brand" href="/"><i></i>promptcorner</a>
      <a class="ic" href="/settings" aria-label="Settings">${icon("gear")}</a>
      <a class="ic" href="/new" aria-label="New chat">${icon("pen")}</a>
    </header>
    <button class="find" onClick=${() => run("palette.open")}>
      ${icon("search")}<span>Search or do…</span><kbd class="only-l">⌘K</kbd>
    </button>
    <div class="list">
      ${chats.map((chat) => html`<a class="row" href=${`/c/${chat.id}`} key=${chat.id}
        aria-current=${chat.id === route.value.chat ? "page" : undefined}>
        <i class="cue off"></i><b>${chat.title}</b></a>`)}
    </div>
    <${Strip} />
  </nav>`;
}
