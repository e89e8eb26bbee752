/** Forms about chats. Their modules are loaded when they are asked for, if not in advance. */

/** @typedef {import("../wire/types.js").Chat} Chat */

/** Ask for another title. @param {Chat} chat */
export const rename = (chat) => import("./rename.js").then((module) => void module.rename(chat), failed);

/** Ask for other labels. @param {Chat[]} chats */
export const editLabels = (chats) => import("./labels.js").then((module) => module.editLabels(chats), failed);

/** Show who may read a chat. @param {Chat} chat @param {import("../shared/popover.js").Anchor} [at] */
export const share = (chat, at) => import("./share.js").then((module) => module.share(chat, at), failed);

/** Erase a chat for good, after a question. @param {Chat} chat */
export const erase = (chat) => import("../shared/erasing.js").then((module) => module.eraseChat(chat), failed);

/** Set or lift the legal hold of a chat. @param {Chat} chat */
export const hold = (chat) => import("../shared/holds.js").then((module) => void module.holdChat(chat), failed);

/** @param {unknown} error */
const failed = (error) => void dispatchEvent(new CustomEvent("module-missing", { detail: error }));
