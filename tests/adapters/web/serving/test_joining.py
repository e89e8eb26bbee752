"""Modules joined to few files do what they do apart, and each runs once."""

import json

import pytest

from adapters.web.serving.joining import UnjoinableModule, join_modules
from tests.web import npm


def joined(**sources):
    files = {name.replace("__", "/") + ".js": text.encode() for name, text in sources.items()}
    return join_modules(files, "app.js")


def said_by(tmp_path, files):
    """What the joined page says, run by node; every module may call `say`."""
    for name, body in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "run.js").write_text(
        "const said = []; globalThis.say = (...words) => said.push(words);\n"
        'process.once("beforeExit", () => console.log(JSON.stringify(said)));\n'
        'await import("./join/app.js");\n'
    )
    return json.loads(npm.node("run.js", cwd=tmp_path))


def test_imports_and_exports_of_every_kind_are_what_they_are_apart(tmp_path):
    files = joined(
        app="""
import {a, twice as two} from "./x.js";
import * as all from "./x.js";
import "./side.js";
import {
  passed,
  b as other,
} from "./y.js";
say(a, two(2), all.a, passed, other, new all.Thing().name);
""",
        x="""
export const a = 1;
export function twice(n) { return 2 * n; }
export class Thing { name = "thing"; }
export async function* later() {}
""",
        y="""
export {a as passed} from "./x.js";
const b = "b";
const own = 3;
export {b, own as renamed};
""",
        side='say("side");\n',
    )

    assert [["side"], [1, 4, 1, 1, "b", "thing"]] == said_by(tmp_path, files)
    assert ["join/app.js"] == list(files)


SHARED = """
say("shared runs");
export const words = [];
export const add = (word) => words.push(word);
"""
BOTH = """
import {add} from "./shared.js";
say("both runs");
export const both = () => add("x");
"""
LATER = """
import {both} from "./both.js";
import {words} from "./shared.js";
both();
export {words};
"""


def test_a_module_runs_once_however_it_is_reached(tmp_path):
    files = joined(
        app="""
import {add} from "./shared.js";
add("app");
Promise.all([import("./one/first.js"), import("./second.js")]).then(([one, two]) => {
  say(one.words, two.words);
});
""",
        shared=SHARED,
        both=BOTH,
        one__first=LATER.replace("./", "../"),
        second=LATER,
    )

    said = said_by(tmp_path, files)

    assert [["shared runs"], ["both runs"]] == said[:2]
    assert ["app", "x", "x"] == said[2][0] == said[2][1]


def test_a_stage_is_one_file_with_all_that_those_before_it_lack(tmp_path):
    sources = {
        "app": 'import {words} from "./shared.js";\nimport("./late.js").then(() => say(words));\n',
        "shared": SHARED,
        "both": BOTH,
        "other": 'import {both} from "./both.js";\nboth();\n',
        "late": 'import {both} from "./both.js";\nboth();\nvoid import("./other.js");\n',
    }
    files = {f"{name}.js": text.encode() for name, text in sources.items()}

    made = join_modules(files, "app.js", ("late.js", "missing.js"))

    assert ["join/app.js", "join/late.js", "join/1.js"] == [*made]
    said = said_by(tmp_path, made)
    assert [["shared runs"], ["both runs"]] == said[:2]
    assert b"both runs" in made["join/late.js"]


def test_comments_are_left_out_and_what_looks_like_one_is_not(tmp_path):
    files = joined(
        app="""
// away
/** away
 * @type {string} */
const place = "http://x/**/y"; // stays
say(place, /** @type {any} */ (`a // b`), "/* c */");
"""
    )

    assert b"away" not in files["join/app.js"]
    assert [["http://x/**/y", "a // b", "/* c */"]] == said_by(tmp_path, files)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("export default 1;", "export default 1"),
        ("export let moving = 1;", "export let moving"),
        ("export const {a, b} = say;", "export const{a"),
        ('export * from "./other.js";', "export*"),
        ('import {a} from "elsewhere";', "begin with a dot"),
        ('import {a} from "./missing.js";', "is not there"),
        ('import {a} from "./other.js";', "circle: app.js -> other.js -> app.js"),
    ],
)
def test_a_module_that_cannot_be_joined_is_named(source, says):
    with pytest.raises(UnjoinableModule, match=r".") as fault:
        joined(app=source + "\n", other='import "./app.js";\nexport const a = 1;\n')

    assert says in str(fault.value)


def test_a_file_that_could_not_be_had_is_asked_for_again_with_what_it_needs(tmp_path):
    files = joined(
        app="""
globalThis.first = () => import("./first.js").then((first) => say(first.both), () => say("away"));
globalThis.second = () => import("./second.js").then(() => say("second"), () => say("away"));
""",
        first='import {shared} from "./shared.js";\nexport const both = ["first", shared];',
        second='import {shared} from "./shared.js";\nsay(shared);',
        shared='say("shared runs");\nexport const shared = "shared";',
    )
    away = {name: body for name, body in files.items() if name != "join/app.js"}
    said_by(tmp_path, {"join/app.js": files["join/app.js"]})
    for name, body in away.items():
        (tmp_path / name).with_suffix(".away").write_bytes(body)
    (tmp_path / "run.js").write_text(
        "import { readdirSync, renameSync } from 'node:fs';\n"
        "const said = []; globalThis.say = (...words) => said.push(words);\n"
        'await import("./join/app.js"); await first(); await second(); await first();\n'
        "for (const name of readdirSync('join')) if (name.endsWith('.away'))\n"
        "  renameSync(`join/${name}`, `join/${name.replace('.away', '.js')}`);\n"
        "await first(); await second(); console.log(JSON.stringify(said));\n"
    )

    said = json.loads(npm.node("run.js", cwd=tmp_path))

    assert [["away"]] * 3 == said[:3]
    assert [["shared runs"], [["first", "shared"]], ["shared"], ["second"]] == said[3:]
