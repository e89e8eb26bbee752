// Code in colours: pieces of text with the classes k(eyword), s(tring), c(omment), f(unction), n(umber).
// The grammars are loaded when the first code is to be coloured. Pure.

/** @typedef {{text: string, cls: string}} Piece */

const CHARACTERS_MAX = 64 * 1024; // longer code stays plain

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

/** @type {Promise<any> | null} */
let loading = null;

function grammars() {
  loading ??= import("../vendor/lowlight.js").then(({ common, createLowlight }) => createLowlight(common));
  loading.catch(() => (loading = null));
  return loading;
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
 * @returns {Promise<Piece[][] | null>}
 */
export async function colourText(text, name) {
  const language = languageOf(name);
  if (!language || text.length > CHARACTERS_MAX) return null;
  const known = await grammars();
  if (!known.registered(language)) return null;
  return linesOf(known.highlight(language, text));
}

/** @param {any} root @returns {Piece[][]} */
function linesOf(root) {
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
