/**
 * The parts of the page that it needs after its first picture: the list, the composer, all commands.
 * They are one module, so that one request brings them. Views ask for it by `kernel/first_paint.js`.
 */

import {chats} from "./chats_store.js";
import {registerColumns} from "./column_commands.js";
import {allCommandsAreThere} from "./commands.js";
import {modelOf, readModels} from "./composer/catalogue.js";
import {whenIdle} from "./kernel/idle.js";
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

const DRAWN_MS = 2000; // by then every view of these is drawn and has made its commands known

/** Return a chat that is known; views that ask are drawn again with news of the list. @param {string} id */
function chatOf(id) {
  void chats.list.value;
  return chats.find(id);
}

/** Start the parts that need no view. */
export function begin() {
  growBy(grown);
  registerPage();
  registerColumns();
  followTitle();
  lookups.value = {chat: chatOf, model: (id) => modelOf(id)?.name ?? ""};
  readModels();
  setTimeout(allCommandsAreThere, DRAWN_MS);
  const { standalone: isOnHomeScreen } = /** @type {any} */ (navigator); // Safari's word alone
  if (isOnHomeScreen) void import("./shared/sharing.js").then((module) => module.shareDownloads(), () => {});
  // Modules that may be needed later are loaded while the page rests, because the network may go away.
  setTimeout(() => whenIdle(() => void import("./in_advance.js").catch(() => {})), DRAWN_MS);
}
