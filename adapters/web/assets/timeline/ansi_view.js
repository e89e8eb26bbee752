// What a command has written, in the colours that it asked for.

/** @param {string} output */
export const ansiLines = (output) => output;
