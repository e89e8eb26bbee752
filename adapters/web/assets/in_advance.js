/**
 * What may be needed at any moment, and must not be missing when the network is away: loaded when
 * the page has nothing else to do. It is one module, so that one request brings it.
 */

import "./composer/approvals_bar.js";
import "./composer/attachments.js";
import "./composer/beside.js";
import "./composer/queue.js";
import "./composer/suggestion_list.js";
import "./list/labels.js";
import "./list/new.js";
import "./list/rename.js";
import "./login/login.js";
