/** What can be done, by names: keys, palette, menus and cards all do it by these. */

import {signal} from "./ui.js";

/**
 * @typedef {{
 *   id: string, title: string, group?: string, keys?: string, when?: () => boolean,
 *   run: (args?: any) => any, hidden?: boolean,
 * }} Command
 * keys: only if `keys.js` has no row for it, "c", "g i", "mod+k"; when: whether it can be done now;
 * hidden: not listed in the palette, as it needs arguments.
 */

/** @type {Map<string, Command[]>} */
const registered = new Map();

/** Changes whenever a command comes or goes. */
export const commandsChanged = signal(0);

/** Whether modules are on their way that may make commands known. */
export const isArriving = signal(true);

/** Commands that were asked for before they were known. @type {{id: string, args: any, resolve: (value: any) => void}[]} */
let waiting = [];

/** Note that all modules are there: a command that is not known by now is none of this page. */
export function allCommandsAreThere() {
  isArriving.value = false;
  for (const {resolve} of waiting) resolve(undefined);
  waiting = [];
}

/** Whether a command may still become known. @param {string} id */
export const isExpected = (id) => isArriving.peek() && !registered.has(id);

/** Do the commands that were asked for before they were known. */
function catchUp() {
  const known = waiting.filter(({id}) => registered.has(id));
  waiting = waiting.filter(({id}) => !registered.has(id));
  for (const {id, args, resolve} of known) resolve(find(id)?.run(args));
}

/**
 * Make a command known. Of several with one name the newest that can be done is done.
 * @param {Command} added
 * @returns {() => void} removes it
 */
export function command(added) {
  registered.set(added.id, [added, ...(registered.get(added.id) || [])]);
  commandsChanged.value++;
  // Commands that come together are all known in the next microtask.
  if (waiting.length) queueMicrotask(catchUp);
  return () => {
    const left = (registered.get(added.id) || []).filter((each) => each !== added);
    if (left.length) registered.set(added.id, left);
    else registered.delete(added.id);
    commandsChanged.value++;
  };
}

/** @param {string} id @returns {Command | undefined} the one that would be done now */
export function find(id) {
  return registered.get(id)?.find((each) => !each.when || each.when());
}

/**
 * Do a command. If its module is still on its way, it is done when that is there.
 * @param {string} id @param {any} [args] @returns {any} undefined if it cannot be done now
 */
export function run(id, args) {
  if (isExpected(id)) return new Promise((resolve) => waiting.push({id, args, resolve}));
  return find(id)?.run(args);
}

/** Return all commands that can be done now. @returns {Command[]} */
export function available() {
  return [...registered.keys()].flatMap((id) => find(id) || []);
}
