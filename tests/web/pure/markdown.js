// Texts for the tests of Markdown, made at random of what its rules are about.

import { below, pick } from "./cases.js";

const WORDS = ["cue", "light", "*em*", "**strong**", "_a_", "~~gone~~", "`code`", "``a`b``", "[a](b)", "[ref]", "![p](http://x.y/z.png)",
  "<b>raw</b>", "https://example.org/a?b=c", "&amp;", "\\*", "é", "😀", "|", "a|b", "  ", "   ", "\t", "[x](javascript:alert(1))", "<http://a.b>", "--", "***", "* *", "==="];
const STARTS = ["", "", "", "# ", "## ", "> ", "> > ", "- ", "* ", "+ ", "1. ", "2) ", "- [ ] ", "- [x] ", "    ", "  ", "   - ", "\t"];
const LINES = ["", "", "---", "***", "===", "```", "```js", "~~~", "````", "| a | b |", "|---|:-:|", "| 1 | 2 |", "[ref]: /url", "[ref]: /url 'title'", "[other]:", "> ", "-", "1.", "    code"];

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
