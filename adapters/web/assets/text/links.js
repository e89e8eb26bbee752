// Which addresses a text of a model may lead to. Pure.

const FILE = /^\/api\/experimental\/chats\/files\/[0-9a-fA-F-]{36}$/;
const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*:/;

/**
 * Return whether an address may be a link: the web, mail, and addresses without a scheme.
 * @param {string} address
 */
export function isAllowed(address) {
  // What browsers leave out of an address before they look at its scheme.
  const plain = address.replace(/[\u0000-\u0020]/g, "");
  if (plain.startsWith("//") || plain.includes("\\")) return false;
  return !SCHEME.test(plain) || /^(https?|mailto):/i.test(plain);
}

/**
 * Return whether an address leads somewhere from a page: not so the path of a file of a workspace.
 * @param {string} address
 */
export function leadsSomewhere(address) {
  return /^(https?:|mailto:|[/#?])/i.test(address);
}

/**
 * Return whether an address is a stored file's: only these are shown as pictures, so that no text
 * makes the page ask a foreign host for anything.
 * @param {string} address
 */
export function isStoredFile(address) {
  return FILE.test(address);
}
