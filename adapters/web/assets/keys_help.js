/** All keys that do something now, and those that would elsewhere. */

import {find} from "./commands.js";
import {KEYS, keyWords} from "./keys.js";
import {Dialog} from "./shared/dialog.js";
import {html} from "./ui.js";

/** @param {{onClose: () => void}} props */
export function KeysHelp({onClose}) {
  const groups = new Map();
  for (const row of KEYS) groups.set(row.group, [...(groups.get(row.group) || []), row]);
  return html`<${Dialog} label="Keys" className="keys" onClose=${onClose}>
    <h2>Keys</h2>
    <p class="dim">Single letters work outside text fields. They can be switched off in the settings.</p>
    <div class="key-groups" tabindex="0" role="region" aria-label="All keys">
      ${[...groups].map(([group, rows]) => html`<section key=${group}><h3>${group}</h3><dl>
        ${rows.map((/** @type {typeof KEYS[number]} */ row) => html`<div
          class=${!row.command || find(row.command) ? "" : "off"}><dt>${row.title}</dt>
          <dd>${keyWords(row.keys).map((key) => html`<kbd>${key}</kbd>`)}</dd></div>`)}
      </dl></section>`)}
    </div>
    <footer><button class="btn" autofocus onClick=${onClose}>Close</button></footer>
  </${Dialog}>`;
}
