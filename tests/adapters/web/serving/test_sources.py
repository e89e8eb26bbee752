"""House rules of what the browser runs: what a module may use, import, and how long it is."""

import re
from posixpath import dirname, join, normpath

import pytest

from adapters.web.serving.assets import FOLDER, imports_of

MODULES = sorted(
    path.relative_to(FOLDER).as_posix()
    for path in FOLDER.rglob("*.js")
    if "vendor" not in path.relative_to(FOLDER).parts
)
LINES_MAX = 300  # of a module

FORBIDDEN = {
    r"\b(inner|outer)HTML\b": "make elements by views",
    r"\binsertAdjacentHTML\b": "make elements by views",
    r"\bdangerouslySetInnerHTML\b": "make elements by views",
    r"\bdocument\.write\b": "make elements by views",
    r"\beval\(": "no text is run",
    r"\bnew Function\(": "no text is run",
    r"<[a-z][^<>$]*\sstyle=\"": "the policy forbids it: give an object, or a class",
    r"<[a-z][^<>$]*\son[a-z]+=\"": "the policy forbids it: give a function",
    r"\bsetAttribute\(\"style\"": "the policy forbids it: set element.style",
    r"\bcssText\b": "set single properties",
    r"<(script|iframe|object|embed|style)\b": "nothing foreign is run or shown",
}
# Pure modules say nothing of the browser; what they import is as pure as they are.
BROWSER = re.compile(
    r"\b(document|window|fetch|localStorage|sessionStorage|navigator|location|history|indexedDB"
    r"|WebSocket|EventSource|addEventListener|requestAnimationFrame|setTimeout|setInterval)\b"
    r"\s*[.(\[]"
)
PURE = ("state/", "text/")
VIEWS = ("text/nodes.js", "text/footnote_views.js")  # views of what the others make of texts
PURE_VENDORS = ("vendor/markdown-it.js", "vendor/lowlight.js", "vendor/diff.js")


def code_of(name):
    """A module without its comments."""
    text = (FOLDER / name).read_text()
    text = re.sub(r"/\*(?:[^*]|\*(?!/))*\*/", "", text)
    return re.sub(r"(?m)(^|[\s;{}(,])//[^\n]*", r"\1", text)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_uses_nothing_that_is_forbidden(name):
    code = code_of(name)

    found = [f"{m[0]}: {why}" for rule, why in FORBIDDEN.items() for m in re.finditer(rule, code)]
    assert not found


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_what_is_there(name):
    code = code_of(name)
    later = re.findall(r"""\bimport\(\s*["'](\.[^"']+)["']""", code)
    wanted = [*imports_of(name, code), *(normpath(join(dirname(name), p)) for p in later)]

    assert not [path for path in wanted if not (FOLDER / path).is_file()]
    assert not re.findall(r"""\b(?:from|import)\s*\(?["'](?!\.)[^"']+["']""", code)


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith(PURE)])
def test_a_pure_module_knows_nothing_of_the_browser(name):
    if name in VIEWS:
        return
    code = code_of(name)

    assert not BROWSER.search(code)
    strange = [
        path
        for path in imports_of(name, code)
        if not path.startswith(PURE) and path not in PURE_VENDORS
    ]
    assert not strange


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_short(name):
    assert len((FOLDER / name).read_text().splitlines()) <= LINES_MAX


@pytest.mark.parametrize("path", sorted(FOLDER.glob("css/*.css")), ids=lambda path: path.name)
def test_a_style_sheet_loads_nothing(path):
    assert not re.search(r"@import|url\(", path.read_text())
