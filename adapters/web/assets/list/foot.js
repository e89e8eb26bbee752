/** The foot of the list: who is logged in, and the way to settings and out. */

import { go } from "../routes.js";
import { isAdmin, me } from "../session.js";
import { icon } from "../shared/icons.js";
import { openMenu } from "../shared/menu.js";
import { initials } from "../state/initials.js";
import { html, signal } from "../ui.js";
import { api } from "../wire/api.js";
import { report } from "./acts.js";

/** The meter of spending, once it is there: its module comes when the page rests, if a limit holds. */
export const meter = signal(/** @type {(() => any) | null} */ (null));

export function Foot() {
  const user = me.value;
  if (!user) return null;
  const name = user.name || user.username;
  return html`<div class="foot">
    ${meter.value && html`<${meter.value} />`}
    <button class="whoami" aria-haspopup="menu"
      onClick=${(/** @type {any} */ event) => openMenu({ at: event.currentTarget, label: name, items: items() })}>
      <span class="av" aria-hidden="true">${initials(name)}</span><span
        class="person">${name}</span>${icon("down")}
    </button>
  </div>`;
}

function items() {
  return [
    { label: "Settings", icon: "gear", run: () => void go("/settings") },
    ...(isAdmin.value ? [{ label: "Administration", icon: "key", run: () => void go("/admin") }] : []),
    { label: "All keys", icon: "book", command: "keys.show" },
    /** @type {const} */ ("-"),
    { label: "Log out", icon: "out", run: () => void logOut() },
  ];
}

async function logOut() {
  if (await report(api.post("/api/v2/users/logout"), "Still logged in")) location.assign("/login");
}
