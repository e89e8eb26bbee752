/** The page of a search. */

import {route} from "../routes.js";
import {html, useEffect, useState} from "../ui.js";
import {api} from "../wire/api.js";

export function SearchPage() {
  const [found, set] = useState(/** @type {any[]} */ ([]));
  const words = route.value.query.get("q") || "";
  useEffect(() => {
    api.get("/api/experimental/chats", {q: words ? `search:"${words.replaceAll('"', "")}"` : ""}).then(set);
  }, [words]);
  return html`<div class="search-page"><h1>Search</h1>
    ${found.map((chat) => html`<p key=${chat.id}><a href=${`/c/${chat.id}`}>${chat.title}</a></p>`)}
  </div>`;
}
