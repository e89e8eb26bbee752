/** Commands about the columns of open chats. They become known after the first picture. */

import {COLUMNS_MAX, activeOf, close, show, used} from "./columns.js";
import {command} from "./commands.js";
import {entered} from "./current.js";
import {phone} from "./frame.js";
import {route} from "./routes.js";
import {toast} from "./shared/toast.js";

/** Show a chat beside those that are open. @param {string} id */
function openBeside(id) {
  const {chats} = route.value;
  used.value = id;
  if (chats.includes(id)) return;
  if (chats.length >= COLUMNS_MAX) toast(`There is room for ${COLUMNS_MAX} chats: the last one made room.`);
  show([...chats.slice(0, COLUMNS_MAX - 1), id]);
}

/** Show a chat, and put the focus into its field. @param {string} id */
function enter(id) {
  entered.value = id;
  return show([id]);
}

/** Save a chat as one page of HTML. @param {string} id */
function save(id) {
  const link = document.createElement("a");
  link.href = `/c/${id}/read?all=1`;
  link.download = `chat-${id}.html`;
  link.click();
}

/** Put the focus into the next column, or the one before. @param {number} step */
function toColumn(step) {
  const {chats} = route.value;
  used.value = chats[(chats.indexOf(activeOf(chats)) + step + chats.length) % chats.length] || "";
  const column = document.querySelector(`.column[data-chat="${CSS.escape(used.value)}"]`);
  const field = column?.querySelector("textarea") || column;
  if (field instanceof HTMLElement) field.focus();
}

/** Make the commands of columns known. */
export function registerColumns() {
  const several = () => route.value.chats.length > 1;
  const group = "View";
  command({id: "chat.enter", title: "Open and write", hidden: true, run: enter});
  command({id: "chat.beside", title: "Open to the side", hidden: true, when: () => !phone.value, run: openBeside});
  command({
    id: "column.close", title: "Close this column", group, when: several,
    run: () => close(activeOf(route.value.chats)),
  });
  command({
    id: "chat.export", title: "Save as one file", group: "Chat", when: () => !!activeOf(route.value.chats),
    run: () => save(activeOf(route.value.chats)),
  });
  command({id: "column.next", title: "Next column", group, when: several, run: () => toColumn(1)});
  command({id: "column.previous", title: "Previous column", group, when: several, run: () => toColumn(-1)});
}
