"""Texts of somebody who means harm: in every field they are to be seen, and to do nothing."""

RUNS = "window.harmed=1"
FOREIGN = "evil.example"
SCRIPTS = (
    f"<script>{RUNS}</script>",
    f'<img src=x onerror="{RUNS}">',
    f"\"'><svg onload={RUNS}>",
    f"--></style></script></textarea></title><script>{RUNS}</script>",
    f'<iframe srcdoc="<script>parent.{RUNS}</script>"></iframe>',
    f'<math><mtext><table><mglyph><style><!--</style><img title="--><img src=1 onerror={RUNS}>">',
    f"<details open ontoggle={RUNS}>",
    f"{{{{constructor.constructor('{RUNS}')()}}}}",
    f"${{{RUNS}}}",
    f"<form action=javascript:{RUNS}><button id=x name=innerHTML>",
    "__proto__",
    "constructor",
    "toString",
)
LINKS = (
    f"[a](javascript:{RUNS})",
    f"[b](JaVaScRiPt:{RUNS})",
    f"[c](java\tscript:{RUNS})",
    f"[d](&#106;avascript:{RUNS})",
    f"[e](data:text/html,<script>{RUNS}</script>)",
    f"[f](vbscript:{RUNS})",
    f"<javascript:{RUNS}>",
    f"[g][1]\n\n[1]: javascript:{RUNS}",
    f'[h](https://{FOREIGN}/" onmouseover="{RUNS})',
    f"![i](https://{FOREIGN}/track.png)",
    f"![j](javascript:{RUNS})",
    f"<a href='javascript:{RUNS}'>k</a>",
    f"//{FOREIGN}/l",
    f"[m](\\\\{FOREIGN}\\x)",
    f"```html onload={RUNS}\n<script>{RUNS}</script>\n```",
    f"| <script>{RUNS}</script> |\n| - |\n| <img src=x onerror={RUNS}> |",
)
STRANGE = (
    "\u202egnirts desrever\u202c",
    "a\u200bb\u2060c\ufeffd",
    "\x1b[31mred\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07\x1b[2J",
    "🏳️‍🌈 ᚠ 中文 עִברִית " + "z̀́̂̃̄̅" * 20,
    "w" * 400,
)
TEXTS = (*SCRIPTS, *LINKS, *STRANGE)
SHORT = tuple(text for text in SCRIPTS if len(text) < 100)  # for names, titles and labels

# What must not be in a document, whatever was said in it.
HARM = """
(() => {
  const found = [];
  if (window.harmed) found.push("it has run");
  const all = selector => document.querySelectorAll(selector);
  const isOurs = address => /^(blob|data):/.test(address) ||
    URL.canParse(address, location) && new URL(address, location).host === location.host;
  for (const each of all("a[href], area[href]"))
    if (!["http:", "https:", "mailto:", "blob:"].includes(each.protocol))
      found.push(each.outerHTML);
  for (const each of all("img, source, video, audio"))
    if (each.src && !isOurs(each.src)) found.push(each.outerHTML);
  for (const each of all("iframe, object, embed, base, [srcdoc], form[action^=javascript]"))
    found.push(each.outerHTML);
  for (const each of all("*"))
    for (const { name } of each.attributes) if (/^on/i.test(name)) found.push(each.outerHTML);
  return found;
})()
"""
