"""Modules joined to few files for the browser: a page of 150 modules is slow far from its daemon.

    joined = join_modules(files, "app.js")
    joined["join/app.js"]       app.js, and all that it imports before it runs
    joined["join/1.js"]         what a dynamic import needs beyond that

    join_modules(files, "app.js", ("later.js",))
    joined["join/later.js"]     one file with all that later.js needs, and app.js does not

Nothing is translated: each module becomes a function that is called once, in the order of its
imports, and comments and needless blanks are left out. What several dynamic imports need is in
a file of its own, so that every module runs once. A developer is served the modules as they are.

That works for modules that are written as ours are, and `UnjoinableModule` says where one is not:
imports and exports begin a line, exports are not reassigned, and imports make no circle.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import basename, dirname, join, normpath

from adapters.web.serving.squeezing import squeezed

FOLDER = "join"
VENDORED = "vendor/"

_NAMED = r"\{([^}]*)\}"
_FROM = r"""\s*from\s*["']([^"']+)["'];"""
_IMPORT = re.compile(rf"^import\s*{_NAMED}{_FROM}", re.MULTILINE)
_IMPORT_ALL = re.compile(rf"^import\s*\*\s*as\s+(\w+){_FROM}", re.MULTILINE)
_IMPORT_DEFAULT = re.compile(rf"^import\s+(\w+){_FROM}", re.MULTILINE)
_IMPORT_BARE = re.compile(r"""^import\s*["']([^"']+)["'];""", re.MULTILINE)
_EXPORT_FROM = re.compile(rf"^export\s*{_NAMED}{_FROM}", re.MULTILINE)
_EXPORT_LIST = re.compile(rf"^export\s*{_NAMED};", re.MULTILINE)
_EXPORT = re.compile(
    r"^export\s+((?:async\s+)?function\s*\*\s*|(?:async\s+)?function\s+|class\s+|const\s+)(\w+)",
    re.MULTILINE,
)
_LEFT = re.compile(r"^(?:import|export)\b(?!\()[^\n]*", re.MULTILINE)
_DYNAMIC = re.compile(r"""\bimport\(\s*["'](\.[^"']+)["']\s*\)""")


# After a failure a browser never fetches a module at the same address again. So the next try asks
# at another one. Tries are counted globally, because all files of the page have to agree on it.
LOAD = """const $tries = globalThis.$tries ??= {};
const $load = (url, at = $tries[url] ?? 0) => import(at ? `${url}?${at}` : url).catch((error) => {
  if (at === ($tries[url] ?? 0)) $tries[url] = at + 1;
  throw error;
});"""


class UnjoinableModule(Exception):
    """A module is written in a way that is not joined."""


@dataclass(slots=True)
class _Module:
    """A module, taken apart."""

    name: str
    body: str = ""
    needs: list[str] = field(default_factory=list)  # modules that have to run before it
    later: list[str] = field(default_factory=list)  # modules that it may import when it runs
    bindings: list[tuple[str, str]] = field(default_factory=list)  # a pattern, a module
    exports: list[tuple[str, str]] = field(default_factory=list)  # its name outside, inside


def join_modules(
    files: Mapping[str, bytes], entry: str, stages: Sequence[str] = ()
) -> Mapping[str, bytes]:
    """Return the joined files by their names, that of the entry first.

    `stages` are modules that nearly every page imports later. Each becomes one file with the name
    of the module, with all that it needs and that no file before it has.
    """
    modules = _reached(files, entry)
    chunks = _chunks(modules, (entry, *(name for name in stages if name in modules)))
    place = {name: chunk for chunk, names in chunks.items() for name in names}
    asked = _asked_from_outside(modules, place)
    return {
        f"{FOLDER}/{chunk}": _written(
            chunk, [modules[name] for name in names], place, asked
        ).encode()
        for chunk, names in chunks.items()
    }


def _reached(files: Mapping[str, bytes], entry: str) -> Mapping[str, _Module]:
    """Return all modules of ours that are reached, now or later."""
    found: dict[str, _Module] = {}
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        if name in found or name.startswith(VENDORED):
            continue
        if name not in files:
            raise UnjoinableModule(f"{name} is imported, and is not there")
        module = found[name] = _taken_apart(name, files)
        waiting += [*module.needs, *module.later]
    return found


def _taken_apart(name: str, files: Mapping[str, bytes]) -> _Module:
    module = _Module(name)
    text = squeezed(files[name].decode())

    def path(found: str) -> str:
        if not found.startswith("."):
            raise UnjoinableModule(f"{name} imports {found}: the path has to begin with a dot")
        return normpath(join(dirname(name), found))

    def imported(found: re.Match[str]) -> str:
        pattern = "{" + ", ".join(f"{a}: {b}" if a != b else a for a, b in _names(found[1])) + "}"
        module.bindings.append((pattern, path(found[2])))
        return ""

    def imported_all(found: re.Match[str]) -> str:
        module.bindings.append((found[1], path(found[2])))
        return ""

    def imported_default(found: re.Match[str]) -> str:
        module.bindings.append((f"{{default: {found[1]}}}", path(found[2])))
        return ""

    def imported_bare(found: re.Match[str]) -> str:
        module.bindings.append(("", path(found[1])))
        return ""

    def exported_from(found: re.Match[str]) -> str:
        source = path(found[2])
        passed = [(a, f"passed_{len(module.exports)}_{at}") for at, (a, _) in _numbered(found[1])]
        module.bindings.append(("{" + ", ".join(f"{a}: {own}" for a, own in passed) + "}", source))
        names = _names(found[1])
        module.exports += [(b, own) for (_, b), (_, own) in zip(names, passed, strict=True)]
        return ""

    def exported_list(found: re.Match[str]) -> str:
        module.exports += [(b, a) for a, b in _names(found[1])]
        return ""

    def exported(found: re.Match[str]) -> str:
        module.exports.append((found[2], found[2]))
        return f"{found[1]}{found[2]}"

    for pattern, change in (
        (_IMPORT, imported),
        (_IMPORT_ALL, imported_all),
        (_IMPORT_DEFAULT, imported_default),
        (_IMPORT_BARE, imported_bare),
        (_EXPORT_FROM, exported_from),
        (_EXPORT_LIST, exported_list),
        (_EXPORT, exported),
    ):
        text = pattern.sub(change, text)
    if left := _LEFT.search(text):
        raise UnjoinableModule(f"{name}: this is not joined: {left[0]}")
    module.needs = list(dict.fromkeys(source for _, source in module.bindings))
    module.later = [path(found) for found in _DYNAMIC.findall(text)]
    module.body = text
    return module


def _names(inside: str) -> Sequence[tuple[str, str]]:
    """Return (there, here) of each name in the braces of an import or export."""
    pairs = [
        words.split(" as ") for words in (" ".join(w.split()) for w in inside.split(",")) if words
    ]
    return [(pair[0].strip(), pair[-1].strip()) for pair in pairs]


def _numbered(inside: str) -> Iterable[tuple[int, tuple[str, str]]]:
    return enumerate(_names(inside))


def _chunks(modules: Mapping[str, _Module], stages: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the files to make, and the modules of each in the order in which they run.

    A module that stages need is in the file of the first of them. Other modules are together with
    those that the same dynamic imports need.
    """
    chunks: dict[str, Sequence[str]] = {}
    placed: set[str] = set()
    for stage in stages:
        fresh = [name for name in _in_order(modules, [stage]) if name not in placed]
        chunks[basename(stage)] = fresh
        placed.update(fresh)
    starts = [later for module in modules.values() for later in module.later]
    needed_by: dict[str, list[str]] = {}
    for start in dict.fromkeys(starts):
        for name in _in_order(modules, [start]):
            if name not in placed:
                needed_by.setdefault(name, []).append(start)
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in _in_order(modules, [*stages, *starts]):
        if name in needed_by:
            groups.setdefault(tuple(sorted(needed_by[name])), []).append(name)
    numbered = enumerate(groups.values(), 1)
    return {**chunks, **{f"{number}.js": names for number, names in numbered}}


def _in_order(modules: Mapping[str, _Module], starts: Sequence[str]) -> Sequence[str]:
    """Return modules and all that they need, each after what it needs. A circle is refused."""
    done: dict[str, None] = {}
    begun: list[str] = []

    def visit(name: str) -> None:
        if name in done or name not in modules:
            return
        if name in begun:
            circle = " -> ".join([*begun[begun.index(name) :], name])
            raise UnjoinableModule(f"imports make a circle: {circle}")
        begun.append(name)
        for needed in modules[name].needs:
            visit(needed)
        begun.pop()
        done[name] = None

    for start in starts:
        visit(start)
    return list(done)


def _asked_from_outside(
    modules: Mapping[str, _Module], place: Mapping[str, str]
) -> Mapping[str, int]:
    """Return a number for each module that another file or a dynamic import asks for."""
    asked = [
        source
        for name, module in modules.items()
        for source in (*module.needs, *module.later)
        if source in place and (source in module.later or place[source] != place[name])
    ]
    return {name: number for number, name in enumerate(sorted(set(asked)))}


def _written(
    chunk: str, modules: Sequence[_Module], place: Mapping[str, str], asked: Mapping[str, int]
) -> str:
    heads: dict[str, str] = {}
    entry = next(iter(place.values()))
    # Files but for the entry, with their aliases. They are imported by LOAD, since they may have
    # failed before.
    needs: dict[str, str] = {}
    parts: list[str] = []
    short = {module.name: f"${number}" for number, module in enumerate(modules)}

    def reference(name: str) -> str:
        """Return what a module is called in this file."""
        if name.startswith(VENDORED):
            alias = "$v_" + re.sub(r"\W", "_", name.removeprefix(VENDORED))
            heads[name] = f'import * as {alias} from "../{name}";'
            return alias
        if place[name] != chunk:
            alias = "$c_" + re.sub(r"\W", "_", place[name])
            if place[name] != entry:
                needs[place[name]] = alias
            else:
                heads[place[name]] = f'import {{$modules as {alias}}} from "./{place[name]}";'
            return f"{alias}[{asked[name]}]"
        return short[name]

    def later(module: _Module) -> str:
        def loaded(found: re.Match[str]) -> str:
            name = normpath(join(dirname(module.name), found[1]))
            if name.startswith(VENDORED):
                return f'import("../{name}")'
            heads["$load"] = LOAD
            return f'$load("./{place[name]}").then((chunk) => chunk.$modules[{asked[name]}])'

        return _DYNAMIC.sub(loaded, module.body)

    for module in modules:
        bound = [
            f"const {pattern} = {reference(name)};" for pattern, name in module.bindings if pattern
        ]
        names = ", ".join(b if a == b else f"{a}: {b}" for a, b in module.exports)
        told = f" = $modules[{asked[module.name]}]" if module.name in asked else ""
        parts.append(
            f"const {short[module.name]}{told} = (() => {{\n"
            + "\n".join([*bound, later(module).strip()])
            + f"\nreturn {{{names}}};\n}})();\n"
        )
    if needs:
        heads["$load"] = LOAD
        aliases = ", ".join(f"{{$modules: {alias}}}" for alias in needs.values())
        urls = ", ".join(f'"./{name}"' for name in needs)
        parts.insert(
            0, f"const [{aliases}] = await Promise.all([{urls}].map((url) => $load(url)));"
        )
    return "\n".join([*heads.values(), "export const $modules = {};", *parts])
