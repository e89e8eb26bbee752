/**
 * Modules that may be needed at any moment, also while the network is away. They are loaded while the
 * page has nothing else to do, as one module, so that one request brings them.
 */

import "./composer/approvals_bar.js";
import "./composer/attachments.js";
import "./composer/beside.js";
import "./composer/queue.js";
import "./composer/suggestion_list.js";
import { followInbox } from "./inbox/follow.js";
import "./list/chip_menus.js";
import "./list/labels.js";
import { followSpend } from "./list/meter.js";
import "./list/new.js";
import "./list/rename.js";
import "./login/login.js";
import { followNotices } from "./notices.js";

followInbox();
followNotices();
followSpend();
