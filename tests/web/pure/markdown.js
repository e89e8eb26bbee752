// Texts for the tests of Markdown, made at random of what its rules are about.

import { below, pick } from "./cases.js";

const WORDS = ["cue", "light", "*em*", "**strong**", "_a_", "~~gone~~", "`code`", "``a`b``", "[a](b)", "[ref]", "![p](http://x.y/z.png)",
  "<b>raw</b>", "https://example.org/a?b=c", "&amp;", "\\*", "é", "😀", "|", "a|b", "  ", "   ", "\t", "[x](javascript:alert(1))", "<http://a.b>", "--", "***", "* *", "===",
  "[^1]", "[^Ab]", "[^none]", "[a][^1]", "[a [^1] b](c)", "![p [^1]](http://x.y/z.png)", "[^1]:"];
const STARTS = ["", "", "", "# ", "## ", "> ", "> > ", "- ", "* ", "+ ", "1. ", "2) ", "- [ ] ", "- [x] ", "[^1]: ", "  [^aB]:", "> [^1]: ", "- [^2]: ", "    ", "  ", "   - ", "\t"];
const LINES = ["", "", "---", "***", "===", "```", "```js", "~~~", "````", "| a | b |", "|---|:-:|", "| 1 | 2 |", "[ref]: /url", "[ref]: /url 'title'", "[other]:", "[^1]: note", "[^2]:", "    [^1]: code", "> ", "-", "1.", "    code"];

/** Return a text of so many lines. */
export function randomText(random, lines) {
  const made = [];
  for (let at = 0; at < lines; at += 1) made.push(random() < 0.4 ? pick(random, LINES) : lineOf(random));
  return made.join("\n");
}

function lineOf(random) {
  const words = Array.from({ length: 1 + below(random, 5) }, () => pick(random, WORDS));
  return pick(random, STARTS) + words.join(pick(random, [" ", " ", ""]));
}

const SIGNS = ["*", "**", "_", "a_", "_b", "`", "``", "[", "](b)", "](b", "c)", "[a", "b]", "~~", "[1]", "\\", "2 * 3", "a*b", "snake_case", "<", "(see [a](b))", "**a *b***"];
const PLAIN = ["the", "page", "shows", "what", "was", "said,", "and", "nothing", "more.", "Then", "it", "waits"];
const BREAKS = ["\n", "\n", "  \n", "\\\n", "\n   ", "\n| a | b |\n", "\n- ", "\n===", "\n[ref]: /url\n"];

/** Return a text that is one long paragraph mostly; `odd`: how much of it may be something else. */
export function randomParagraph(random, words, odd) {
  let text = random() < 0.3 ? "Words before.\n\n" : "";
  for (let at = 0; at < words; at += 1) {
    const dice = random();
    text += dice < odd ? pick(random, SIGNS) : dice < 3 * odd ? pick(random, WORDS) : pick(random, PLAIN);
    text += random() < odd ? pick(random, BREAKS) : random() < 0.05 ? "\n" : " ";
  }
  return text;
}

const CELLS = ["1", "**a**", "`|`", "a \\| b", "", "[ref]", "*x", "http://a.b/c", "[ref]: /url"];
const AFTER_ROWS = ["no row", "- item", "", "> q", "---", "# head", "| one", "a | b | c | d"];

/** Return a text with a long table, with oddities between its rows. */
export function randomTable(random, rows) {
  const made = random() < 0.5 ? ["Words before.", "| a | b |", "|:-|-:|"] : ["a | b", "---|---"];
  for (let at = 0; at < rows; at += 1) {
    if (random() < 0.05) made.push(pick(random, AFTER_ROWS));
    else made.push(`| ${pick(random, CELLS)} | ${pick(random, CELLS)}${random() < 0.7 ? " |" : ""}`);
  }
  return made.join("\n");
}

const MARKS = ["- ", "* ", "1. ", "2) ", " - ", "   - ", "-   "];
const ODD = ["", "", "  more", "lazy", "      code", "  ```", "  ---", "  - inner", "-", "***", "===", "[ref]: /url", "  # head", "\n", "| a |", "> q", "[^1]: note", "  [^1]: note", "- [^1]: note"];

/** Return a text with a long list, of items of one kind mostly, with oddities between. */
export function randomList(random, lines) {
  const mark = pick(random, MARKS);
  const made = random() < 0.5 ? ["Words before.", ""] : [];
  for (let at = 0; at < lines; at += 1) {
    if (random() < 0.2) made.push(pick(random, ODD));
    else made.push((random() < 0.05 ? pick(random, MARKS) : mark) + pick(random, WORDS));
  }
  return made.join("\n");
}
