/** Settings of a user, and of the deployment. */

import {run} from "../commands.js";
import {me} from "../session.js";
import {icon} from "../shared/icons.js";
import {html} from "../ui.js";

export function SettingsPage() {
  return html`<header class="top">
      <button class="ic only-s" aria-label="Back to the list" onClick=${() => run("region.back")}>
        ${icon("back")}</button>
      <h1>Settings</h1>
    </header>
    <div class="page"><p>Logged in as ${me.value?.username}.</p></div>`;
}
