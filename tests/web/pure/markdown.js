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
