/** All keys that do something now, and those that would elsewhere. */

import {find} from "./commands.js";
import {KEYS, keyWords} from "./keys.js";
import {Dialog} from "./shared/dialog.js";
import {loadSheet} from "./shared/sheet.js";
import {html} from "./ui.js";

/** The titles of keys. Where a row has no command, the part of the page that it is about hears it. */
const GROUPS = [
  {group: "Everywhere", rows: [
    {command: "palette.open", title: "Search or do…"},
    {command: "chat.new", title: "New chat"},
    {command: "composer.focus", title: "Write a message"},
    {command: "keys.show", title: "All keys"},
    {command: "region.list", title: "Fold the list"},
    {command: "region.panel", title: "Fold the side panel"},
    {command: "panel.close", title: "Close the side panel that lies over, or end its full width"},
    {command: "region.next", title: "Next region"},
    {command: "region.previous", title: "Previous region"},
    {command: "column.next", title: "Next column, where several chats are open"},
    {command: "column.previous", title: "Previous column"},
  ]},
  {group: "In a chat", rows: [
    {command: "message.next", title: "Next message of mine"},
    {command: "message.previous", title: "Previous message of mine"},
    {command: "message.first", title: "Start of the chat"},
    {command: "message.last", title: "End of the chat"},
    {command: "next.needsMe", title: "Next thing that needs you"},
    {command: "previous.needsMe", title: "Previous thing that needs you"},
    {command: "card.toggle", title: "Open or close a card"},
    {command: "message.speak", title: "Read the last answer aloud"},
    {command: "chat.parent", title: "Up to the chat that began this one"},
    {command: "chat.stop", title: "Stop"},
  ]},
  {group: "Writing", rows: [
    {keys: "Enter", title: "Send; while it works: queue"},
    {keys: "mod+Enter", title: "While it works: steer"},
    {keys: "alt+Enter", title: "While it works: interrupt"},
    {keys: "shift+Enter", title: "New line"},
    {keys: "ArrowUp", title: "What you wrote before"},
    {keys: "mod+shift+v", title: "Paste as text, however long"},
  ]},
  {group: "A question to you", rows: [
    {keys: "1–9", title: "Choose an answer"},
    {command: "approval.allow", title: "Allow once"},
    {command: "approval.always", title: "Always allow in this chat"},
    {command: "approval.deny", title: "Deny"},
  ]},
  {group: "Desktop, while you only look", rows: [
    {keys: "mod+0", title: "Fit"},
    {keys: "mod+1", title: "Its own size"},
  ]},
  {group: "List of chats", rows: [
    {command: "chat.next", title: "Next chat"},
    {command: "chat.previous", title: "Previous chat"},
    {command: "chat.needsMe", title: "Next chat that needs you"},
    {command: "chat.archive", title: "Archive the chat"},
    {command: "chat.label", title: "Label the chat"},
    {command: "chat.rename", title: "Rename the chat"},
    {keys: "alt+ArrowUp", title: "Move a pinned chat or a waiting message up"},
    {command: "row.choose", title: "Choose the row"},
    {command: "menu.open", title: "Menu of what is chosen"},
  ]},
];

/** Return the keys of a row. @param {{keys?: string, command?: string}} row */
const keysIn = (row) => row.keys || KEYS.find((each) => each.command === row.command)?.keys || "";

/** @param {{onClose: () => void}} props */
export function KeysHelp({onClose}) {
  return html`<${Dialog} label="Keys" className="keys" onClose=${onClose}>
    <h2>Keys</h2>
    <p class="dim">Single letters work outside text fields. They can be switched off in the settings.</p>
    <div class="key-groups" tabindex="0" role="region" aria-label="All keys">
      ${GROUPS.map(({group, rows}) => html`<section key=${group}><h3>${group}</h3><dl>
        ${rows.map((/** @type {{keys?: string, command?: string, title: string}} */ row) => html`<div
          class=${!row.command || find(row.command) ? "" : "off"}><dt>${row.title}</dt>
          <dd>${keyWords(keysIn(row)).map((key) => html`<kbd>${key}</kbd>`)}</dd></div>`)}
      </dl></section>`)}
    </div>
    <footer><button class="btn" autofocus onClick=${onClose}>Close</button></footer>
  </${Dialog}>`;
}

/** Return it once its sheet is there. */
export const load = () => loadSheet("palette.css").then(() => KeysHelp);
