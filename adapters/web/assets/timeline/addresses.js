// Addresses in the web: which may be followed, and what of them is read. Pure.

/** @param {string} url */
export const isWebAddress = (url) => /^https?:\/\//i.test(url);

/** @param {string} url */
export function hostOf(url) {
  try {
    return new URL(url).hostname.replace(/^www\./, "");
  } catch {
    return "";
  }
}
