/**
 * What the page needs once its first picture is drawn: the list, what is written with, all commands.
 * It is one module, so that one request brings it. Views ask for it by `kernel/first_paint.js`.
 */

import {chats} from "./chats_store.js";
import {registerColumns} from "./column_commands.js";
import {allCommandsAreThere} from "./commands.js";
import {modelOf, readModels} from "./composer/catalogue.js";
import {whenIdle} from "./kernel/idle.js";
import {followNotices} from "./notices.js";
import {registerPage} from "./page_commands.js";
import {grown} from "./text/grow.js";
import {growBy} from "./text/nodes.js";
import "./shared/more_icons.js";
import {lookups} from "./timeline/lookups.js";
import {followTitle} from "./title.js";

export {Composer} from "./composer/composer.js";
export {Edges} from "./edges.js";
export {ChatHeader} from "./list/header.js";
export {List} from "./list/list.js";
export {registerActs} from "./timeline/acts.js";
export {Announcer} from "./timeline/announcer.js";
export {JumpButton} from "./timeline/jump.js";
export {Now} from "./timeline/now.js";

const DRAWN_MS = 2000; // after which every view of these is drawn, and has made its commands known

/** @param {string} id */
function chatOf(id) {
  void chats.list.value; // drawn again when the list has news
  return chats.find(id);
}

/** Begin with what needs no view. */
export function begin() {
  growBy(grown);
  registerPage();
  registerColumns();
  followTitle();
  lookups.value = {chat: chatOf, model: (id) => modelOf(id)?.name ?? ""};
  readModels();
  followNotices();
  setTimeout(allCommandsAreThere, DRAWN_MS);
  // What may be drawn sooner or later is loaded when there is nothing else to do: the network may go.
  setTimeout(() => whenIdle(() => void import("./in_advance.js").catch(() => {})), DRAWN_MS);
}
