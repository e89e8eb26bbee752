// Code in colours: pieces of text with the classes k(eyword), s(tring), c(omment), f(unction), n(umber).
// Grammars are loaded when the first code is to be coloured, and long code is coloured in slices, so
// that the page goes on meanwhile. Pure.

/** @typedef {{text: string, cls: string}} Piece */

const CHARACTERS_MAX = 64 * 1024; // longer code stays plain
const SLICE = 4_000; // characters that are coloured at once: a few milliseconds

/** What our few colours stand for, of the many names that grammars know. @type {Record<string, string>} */
const CLASSES = {
  keyword: "k", literal: "k", built_in: "f", type: "f", doctag: "k", "selector-tag": "k", name: "k", tag: "", operator: "",
  string: "s", regexp: "s", symbol: "s", char: "s", addition: "s", "template-variable": "s", link: "s", code: "s",
  comment: "c", quote: "c", meta: "c", deletion: "x",
  title: "f", attr: "f", attribute: "f", function: "f", section: "f", "selector-class": "f", "selector-id": "f", property: "f",
  number: "n", variable: "n", bullet: "n", params: "", subst: "", punctuation: "",
};

/** Languages by the endings of files, and by names that grammars do not know. @type {Record<string, string>} */
const LANGUAGES = {
  bash: "bash", c: "c", cc: "cpp", cfg: "ini", conf: "ini", console: "bash", cpp: "cpp", cs: "csharp", css: "css", diff: "diff",
  go: "go", h: "c", hpp: "cpp", htm: "xml", html: "xml", ini: "ini", java: "java", js: "javascript", json: "json", jsonc: "json",
  jsx: "javascript", kt: "kotlin", less: "less", lua: "lua", md: "markdown", mjs: "javascript", patch: "diff", php: "php", pl: "perl",
  py: "python", pyi: "python", r: "r", rb: "ruby", rs: "rust", scss: "scss", sh: "bash", shell: "bash", sql: "sql", svg: "xml",
  swift: "swift", toml: "ini", ts: "typescript", tsx: "typescript", vue: "xml", xml: "xml", yaml: "yaml", yml: "yaml", zsh: "bash",
};
const NAMES = { Makefile: "makefile", makefile: "makefile", Dockerfile: "bash", ".bashrc": "bash" };

/** Languages that may stand within others. @type {Record<string, string[]>} */
const WITHIN = {
  xml: ["css", "javascript"], markdown: ["xml"], javascript: ["xml", "css"], typescript: ["xml", "css"],
  "php-template": ["xml", "php"], shell: ["bash"], "python-repl": ["python"],
};

/** @typedef {() => Promise<void>} Pause lets others work between two slices */
/** @type {Pause} */
const NO_PAUSE = () => Promise.resolve();

/** @type {Promise<{common: Record<string, unknown>, lowlight: import("../vendor/lowlight.js").Lowlight}> | null} */
let loading = null;

function library() {
  loading ??= import("../vendor/lowlight.js").then(({ common, createLowlight }) => ({ common, lowlight: createLowlight() }));
  loading.catch(() => (loading = null));
  return loading;
}

/**
 * Return what colours a language, or null if it is not known. Grammars are registered one by one as
 * they are needed: all of them at once take as long as several frames.
 * @param {string} language @param {Pause} pause
 */
async function grammarOf(language, pause) {
  const { common, lowlight } = await library();
  const isName = Object.hasOwn(common, language);
  const wanted = isName ? [language, ...(WITHIN[language] ?? []).flatMap((one) => [one, ...(WITHIN[one] ?? [])])] : Object.keys(common);
  for (const name of wanted) {
    if (!isName && lowlight.registered(language)) break; // another name of one that is there
    if (lowlight.registered(name)) continue;
    lowlight.register({ [name]: common[name] });
    await pause();
  }
  return lowlight.registered(language) ? lowlight : null;
}

/**
 * Return the language that a file's name or a block of code's first word stands for, or "".
 * @param {string} name
 */
export function languageOf(name) {
  const last = name.split("/").pop() ?? "";
  if (Object.hasOwn(NAMES, last)) return NAMES[/** @type {keyof typeof NAMES} */ (last)];
  const ending = last.split(".").pop()?.toLowerCase() ?? "";
  if (Object.hasOwn(LANGUAGES, ending)) return LANGUAGES[ending];
  return last.includes(".") || name.includes("/") ? "" : last.toLowerCase();
}

/**
 * Return code in coloured lines, or null where the language is not known or the code is too long.
 * @param {string} text @param {string} name a language, or a file's name
 * @param {Pause} [pause]
 * @returns {Promise<readonly Piece[][] | null>}
 */
export const colourText = (text, name, pause) => new Colours(name).of(text, pause);

/** The colours of a text that may grow: what is settled of it is not coloured again. */
export class Colours {
  #text = ""; // so much is settled
  #lines = /** @type {readonly Piece[][]} */ ([]);

  /** @param {string} name a language, or a file's name */
  constructor(name) {
    this.name = name;
  }

  /**
   * Return the lines, or null as `colourText` does; `shown` is given those that are there so far.
   * @param {string} text @param {Pause} [pause] @param {(lines: readonly Piece[][]) => void} [shown]
   */
  async of(text, pause = NO_PAUSE, shown = () => {}) {
    const language = languageOf(this.name);
    if (!language || text.length > CHARACTERS_MAX) return null;
    const known = await grammarOf(language, pause);
    if (!known) return null;
    let [at, lines] = text.startsWith(this.#text) ? [this.#text.length, this.#lines] : [0, this.#lines.slice(0, 0)];
    for (;;) {
      const { end, come } = sliceOf(text, at, (piece) => known.highlight(language, piece));
      lines = [...lines, ...come];
      if (end === text.length) return lines;
      at = end;
      [this.#text, this.#lines] = [text.slice(0, end), lines];
      shown(lines);
      await pause();
    }
  }
}

/**
 * Return the lines of the next slice of a text, and where it ends: before a line that begins at the
 * left, where no comment, string or the like is open.
 * @param {string} text @param {number} at @param {(piece: string) => any} coloured
 */
function sliceOf(text, at, coloured) {
  for (let size = SLICE; ; size *= 2) {
    const piece = text.slice(at, at + size);
    const root = coloured(piece);
    if (at + piece.length === text.length) return { end: text.length, come: linesOf(root) };
    const cut = cutOf(root, piece, size > SLICE);
    if (cut) return { end: at + cut, come: linesOf(root).slice(0, piece.slice(0, cut).split("\n").length - 1) };
  }
}

/**
 * Return the last place in a piece at which a slice may end, or 0.
 * @param {any} root @param {string} piece @param {boolean} anywhere also before a line that is indented
 */
function cutOf(root, piece, anywhere) {
  let at = 0, cut = 0;
  for (const node of root.children) {
    const words = textOf(node);
    if (node.type === "text") {
      for (let end = words.indexOf("\n"); end >= 0; end = words.indexOf("\n", end + 1)) {
        if (anywhere || /[^\s)\]}]/.test(piece[at + end + 1] ?? " ")) cut = at + end + 1;
      }
    }
    at += words.length;
  }
  return cut;
}

/** @param {any} node @returns {string} */
const textOf = (node) => (node.type === "text" ? node.value : node.children.map(textOf).join(""));

/** Return the lines of a whole tree. @param {any} root @returns {Piece[][]} */
export function linesOf(root) {
  /** @type {Piece[][]} */
  const lines = [[]];
  const walk = (/** @type {any} */ node, /** @type {string} */ cls) => {
    if (node.type === "text") {
      for (const [index, text] of node.value.split("\n").entries()) {
        if (index) lines.push([]);
        if (text) lines[lines.length - 1].push({ text, cls });
      }
      return;
    }
    const own = node.type === "element" ? classOf(node.properties.className ?? []) : undefined;
    for (const child of node.children) walk(child, own ?? cls);
  };
  walk(root, "");
  return lines;
}

/** Return the class of a piece; undefined: that of what it stands in. @param {string[]} names */
function classOf(names) {
  for (const name of names) {
    const short = name.replace(/^hljs-/, "");
    if (Object.hasOwn(CLASSES, short)) return CLASSES[short] || undefined;
  }
  return undefined;
}
