// Footnotes as a rule of the parser of Markdown: [^1] in a text, and [^1]: words, a paragraph. Pure.
//
// A note is shown where it is written, with its own label, so that a growing text does not depend on
// how many notes come later. A mark without a note stays text.

/**
 * @typedef {import("./blocks.js").References} References
 * @typedef {any} State    the parser's own, of a block or of what stands within one
 */

const DEFINED = /^\[\^([^ \t\n[\]]{1,60})\]:[ \t]*/;
const MARK = /\[\^([^ \t\n[\]]{1,60})\]/y;

/**
 * Teach a parser footnotes.
 * @param {any} reader
 */
export function footnotes(reader) {
  reader.block.ruler.before("reference", "footnote", note, { alt: ["paragraph", "reference", "blockquote"] });
  reader.inline.ruler.before("link", "footnote_mark", mark);
}

/**
 * Return the name of a note among the definitions of links. Names of links have no small letters.
 * @param {string} label
 */
const nameOf = (label) => `note ${label.toLowerCase().toUpperCase()}`;

/** @param {string} text */
const trimmed = (text) => text.replace(/^[ \t\n]+|[ \t\n]+$/g, "");

/**
 * @param {State} state
 * @param {number} first
 * @param {number} end
 * @param {boolean} silent
 */
function note(state, first, end, silent) {
  if (state.sCount[first] - state.blkIndent > 3) return false;
  const line = state.src.slice(state.bMarks[first] + state.tShift[first], state.eMarks[first]);
  const found = DEFINED.exec(line);
  if (!found || silent) return Boolean(found);
  const behind = lineBehind(state, first, end);
  const words = trimmed(trimmed(state.getLines(first, behind, state.blkIndent, false)).slice(found[0].trimEnd().length));
  state.env.references ??= {};
  state.env.references[nameOf(found[1])] ??= { href: "" };
  state.line = behind;
  add(state, "footnote_open", 1, { info: found[1], map: [first, behind] });
  add(state, "inline", 0, { content: words, map: [first, behind], children: [] });
  add(state, "footnote_close", -1, {});
  return true;
}

/**
 * Return the line behind the paragraph that begins at this one.
 * @param {State} state
 * @param {number} first
 * @param {number} end
 */
function lineBehind(state, first, end) {
  const enders = state.md.block.ruler.getRules("paragraph");
  const outer = state.parentType;
  state.parentType = "paragraph";
  let line = first + 1;
  while (line < end && !state.isEmpty(line) && !isEnded(state, enders, line, end)) line += 1;
  state.parentType = outer;
  return line;
}

/**
 * @param {State} state
 * @param {((state: State, line: number, end: number, silent: boolean) => boolean)[]} enders
 * @param {number} line
 * @param {number} end
 */
function isEnded(state, enders, line, end) {
  // A line that is indented further goes on with the paragraph.
  if (state.sCount[line] < 0 || state.sCount[line] - state.blkIndent > 3) return false;
  return enders.some((rule) => rule(state, line, end, true));
}

/**
 * @param {State} state
 * @param {string} type
 * @param {number} nesting
 * @param {{[name: string]: any}} more
 */
function add(state, type, nesting, more) {
  Object.assign(state.push(type, nesting ? "p" : "", nesting), more);
}

/**
 * @param {State} state
 * @param {boolean} silent
 */
function mark(state, silent) {
  MARK.lastIndex = state.pos;
  const found = MARK.exec(state.src);
  if (!found || !state.env.references?.[nameOf(found[1])]) return false;
  if (!silent) state.push("footnote_mark", "", 0).content = found[1];
  state.pos += found[0].length;
  return true;
}
