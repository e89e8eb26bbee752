// The open chat that its user has marked as unread: to look at it on does not make it read.

let kept = "";

/** @param {string} id */
export const keepUnread = (id) => void (kept = id);

/** @param {string} id */
export const isKeptUnread = (id) => kept !== "" && kept === id;

export const letBeRead = () => void (kept = "");
