"""Squeezed JavaScript is the same program: the compiler reads the same of both."""

import json

import pytest

from adapters.web.serving.assets import FOLDER
from adapters.web.serving.squeezing import squeezed
from tests.web import npm

CASES = {
    "const a = 1; // one\n/* two */ const b = 2;\n": "const a=1;const b=2;",
    "const a = 'x // y', b = \"/* z */\";": "const a='x // y',b=\"/* z */\";",
    "const r = /a\\/[/'\"]b/g, n = 4 / 2 / 1;": "const r=/a\\/[/'\"]b/g,n=4/2/1;",
    "a = b + +c - -d; e++\n+f": "a=b+ +c- -d;e++\n+f",
    "const t = `a  ${ b  + `c ${d} // ` }  // e`;": "const t=`a  ${b+`c ${d} // `}  // e`;",
    "const v = html`<p>\n    ${ x }\n  </p>`;": "const v=html`<p>\n${x}\n</p>`;",
    "const s = `<p>\n    ${ x }\n  </p>`;": "const s=`<p>\n    ${x}\n  </p>`;",
    "const f = (/** @type {any} */ x) => x;": "const f=(x)=>x;",
    "let a = 1\nlet b = 2\n;[b].map(f)": "let a=1\nlet b=2;[b].map(f)",
    "return typeof x in y": "return typeof x in y",
    "a();\nimport x from 'y';\nexport const b = 1;": "a();\nimport x from'y';\nexport const b=1;",
}

# Both programs as trees: kinds of nodes, and texts of words; the views' templates line by line.
COMPARE = """
import {readFileSync} from "node:fs";
import ts from "TYPESCRIPT";

function tree(text) {
  const file = ts.createSourceFile("x.js", text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const visit = (node) => {
    const children = [];
    ts.forEachChild(node, (child) => void children.push(visit(child)));
    let words = children.length ? "" : node.text ?? "";
    if (node.kind <= ts.SyntaxKind.TemplateTail && node.kind >= ts.SyntaxKind.TemplateHead
      || node.kind === ts.SyntaxKind.NoSubstitutionTemplateLiteral) {
      words = node.text.replace(/\\n\\s*/g, "\\n");
    }
    return [node.kind, words, children];
  };
  return JSON.stringify([visit(file), file.parseDiagnostics.length]);
}

const pairs = JSON.parse(readFileSync("pairs.json", "utf8"));
const wrong = Object.entries(pairs).filter(([, [a, b]]) => tree(a) !== tree(b));
console.log(JSON.stringify(wrong.map(([name]) => name)));
"""


@pytest.mark.parametrize(("source", "expected"), CASES.items())
def test_what_is_needless_is_left_out(source, expected):
    assert expected == squeezed(source)


@pytest.mark.slow
def test_every_module_of_ours_stays_the_same_program(tmp_path):
    try:
        compiler = npm.package("typescript") / "lib" / "typescript.js"
    except npm.Unavailable as why:
        npm.leave_out(f"the programs that are compared: {why}")
    paths = [path for path in FOLDER.rglob("*.js") if "vendor" not in path.parts]
    texts = {path.relative_to(FOLDER).as_posix(): path.read_text() for path in paths}
    pairs = {name: (text, squeezed(text)) for name, text in texts.items()} | {
        source: (source, squeezed(source)) for source in CASES
    }
    (tmp_path / "pairs.json").write_text(json.dumps(pairs))
    (tmp_path / "compare.mjs").write_text(COMPARE.replace("TYPESCRIPT", compiler.as_posix()))

    assert [] == json.loads(npm.node("compare.mjs", cwd=tmp_path))
