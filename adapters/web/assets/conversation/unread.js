// The open chat that its user has marked as unread. Looking at it further does not make it read.

let kept = "";

/** Keep an open chat unread. @param {string} id */
export const keepUnread = (id) => void (kept = id);

/** Whether a chat is kept unread. @param {string} id */
export const isKeptUnread = (id) => kept !== "" && kept === id;

/** Keep no chat unread any more. */
export const letBeRead = () => void (kept = "");
