// Which pastes become files. Pure.

const PASTE_LINES = 10; // a paste of so many lines becomes a file
const PASTE_CHARACTERS = 1000; // or of so many characters

/**
 * Return whether a text that is pasted is so long that it becomes a file.
 * @param {string} text
 */
export function isLongPaste(text) {
  return text.length >= PASTE_CHARACTERS || text.split("\n", PASTE_LINES).length >= PASTE_LINES;
}
