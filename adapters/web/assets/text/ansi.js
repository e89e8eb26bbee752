// What a terminal would show of a command's output: lines of pieces with classes of 16 colours. Pure.

/**
 * @typedef {{text: string, cls: string}} Piece `cls`: "" or names such as "fg2 bold"
 * @typedef {{fg: string, bg: string, bold: boolean, dim: boolean, italic: boolean, under: boolean, inverse: boolean, hidden: boolean, strike: boolean}} Style
 * @typedef {{ch: string, cls: string}[]} Cells
 */

const CHARACTERS_MAX = 256 * 1024; // of an output; of a longer one the end is shown
const COLUMN_MAX = 4000; // to which a cursor is moved

// CSI, OSC and other strings, and escapes of two characters.
const CONTROL = /\x1b\[([0-9;:?<=>]*)[ -/]*([@-~])|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[ -/]*[0-~]|[\r\n\b\t]|[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]/g;

/** @returns {Style} */
const plain = () => ({ fg: "", bg: "", bold: false, dim: false, italic: false, under: false, inverse: false, hidden: false, strike: false });

/**
 * Return the lines of an output.
 * @param {string} output
 * @returns {Piece[][]}
 */
export function ansiLines(output) {
  const text = output.length > CHARACTERS_MAX ? output.slice(-CHARACTERS_MAX) : output;
  const screen = { lines: [/** @type {Cells} */ ([])], row: 0, column: 0, style: plain(), cls: "" };
  let last = 0;
  for (const found of text.matchAll(CONTROL)) {
    if (found.index > last) put(screen, text.slice(last, found.index));
    control(screen, found);
    last = found.index + found[0].length;
  }
  if (last < text.length) put(screen, text.slice(last));
  const lines = screen.lines.map(piecesOf);
  if (lines.length > 1 && !lines[lines.length - 1].length) lines.pop();
  return lines;
}

/** @typedef {{lines: Cells[], row: number, column: number, style: Style, cls: string}} Screen */

/** @param {Screen} screen @param {string} text */
function put(screen, text) {
  const line = screen.lines[screen.row];
  while (line.length < screen.column) line.push({ ch: " ", cls: "" });
  for (const ch of text) line[screen.column++] = { ch, cls: screen.cls };
}

/** @param {Screen} screen @param {RegExpMatchArray} found */
function control(screen, found) {
  const [whole, parameters, final] = found;
  if (whole === "\n") newLine(screen);
  else if (whole === "\r") screen.column = 0;
  else if (whole === "\b") screen.column = Math.max(0, screen.column - 1);
  else if (whole === "\t") put(screen, " ".repeat(8 - (screen.column % 8)));
  else if (final === "m") restyle(screen, parameters);
  else if (final === "K") erase(screen, Number(parameters) || 0);
  else if (final === "G") screen.column = columnOf(parameters) - 1;
  else if (final === "C") screen.column = Math.min(COLUMN_MAX, screen.column + columnOf(parameters));
  else if (final === "D") screen.column = Math.max(0, screen.column - columnOf(parameters));
  else if (final === "A") screen.row = Math.max(0, screen.row - columnOf(parameters));
  else if (final === "B") for (let down = Math.min(columnOf(parameters), 100); down > 0; down--) goDown(screen);
}

/** @param {string} parameters */
const columnOf = (parameters) => Math.min(COLUMN_MAX, Math.max(1, Number(parameters.split(";")[0]) || 1));

/** @param {Screen} screen */
function newLine(screen) {
  goDown(screen);
  screen.column = 0;
}

/** @param {Screen} screen */
function goDown(screen) {
  screen.row++;
  if (screen.row === screen.lines.length) screen.lines.push([]);
}

/** @param {Screen} screen @param {number} how 0: to the end of the line, 1: to its beginning, 2: all of it */
function erase({ lines, row, column }, how) {
  const line = lines[row];
  if (how === 0) line.length = Math.min(line.length, column);
  else for (let at = 0; at < line.length && (how === 2 || at <= column); at++) line[at] = { ch: " ", cls: "" };
}

/** @type {Record<number, (style: Style) => void>} */
const SIMPLE = {
  1: (style) => (style.bold = true), 2: (style) => (style.dim = true), 3: (style) => (style.italic = true),
  4: (style) => (style.under = true), 7: (style) => (style.inverse = true), 8: (style) => (style.hidden = true),
  9: (style) => (style.strike = true), 22: (style) => (style.bold = style.dim = false), 23: (style) => (style.italic = false),
  24: (style) => (style.under = false), 27: (style) => (style.inverse = false), 28: (style) => (style.hidden = false),
  29: (style) => (style.strike = false), 39: (style) => (style.fg = ""), 49: (style) => (style.bg = ""),
};

/** @param {Screen} screen @param {string} parameters */
function restyle(screen, parameters) {
  const codes = parameters.split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at];
    if (!code) screen.style = plain();
    else if (SIMPLE[code]) SIMPLE[code](screen.style);
    else if (code === 38 || code === 48) at += extended(screen.style, code === 38 ? "fg" : "bg", codes.slice(at + 1));
    else if (code >= 30 && code <= 37) screen.style.fg = `fg${code - 30}`;
    else if (code >= 90 && code <= 97) screen.style.fg = `fg${code - 82}`;
    else if (code >= 40 && code <= 47) screen.style.bg = `bg${code - 40}`;
    else if (code >= 100 && code <= 107) screen.style.bg = `bg${code - 92}`;
  }
  screen.cls = classOf(screen.style);
}

/** Take one of 256 colours, or one by its parts, as the nearest of the 16. @param {Style} style @param {"fg" | "bg"} where @param {number[]} rest */
function extended(style, where, rest) {
  if (rest[0] === 5) {
    style[where] = `${where}${rest[1] < 16 ? rest[1] : nearest(...fromCube(rest[1]))}`;
    return 2;
  }
  if (rest[0] !== 2) return 0;
  style[where] = `${where}${nearest(rest[1], rest[2], rest[3])}`;
  return 4;
}

/** @param {number} index @returns {[number, number, number]} */
function fromCube(index) {
  const grey = 8 + (index - 232) * 10;
  if (index >= 232) return [grey, grey, grey];
  const cube = index - 16;
  return [Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51];
}

/** @param {number} red @param {number} green @param {number} blue */
function nearest(red, green, blue) {
  const most = Math.max(red, green, blue), least = Math.min(red, green, blue);
  if (most - least < 40) return most < 64 ? 0 : most < 150 ? 8 : most < 220 ? 7 : 15;
  const bit = (/** @type {number} */ part) => (part > (most + least) / 2 ? 1 : 0);
  return bit(red) + 2 * bit(green) + 4 * bit(blue) + (most > 210 ? 8 : 0);
}

/** @param {Style} style */
function classOf({ fg, bg, bold, dim, italic, under, inverse, hidden, strike }) {
  return [fg, bg, bold && "bold", dim && "faint", italic && "italic", under && "under", inverse && "inverse", hidden && "hidden", strike && "strike"].filter(Boolean).join(" ");
}

/** Join what looks alike. @param {Cells} cells @returns {Piece[]} */
function piecesOf(cells) {
  /** @type {Piece[]} */
  const pieces = [];
  for (const { ch, cls } of cells) {
    const last = pieces[pieces.length - 1];
    if (last?.cls === cls) last.text += ch;
    else pieces.push({ text: ch, cls });
  }
  return pieces;
}
