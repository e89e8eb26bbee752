"""The house rules of words: maps that hold, class names that stand once, docstrings with a subject.

A map is the docstring of a folder's `__init__`: one line for each module and folder in it.

    store      writes the messages of a chat
    wire/      the JSON of messages

In a room, the modules that other rooms may import stand under "For other rooms:" (the path of a
module that lies deeper has dots), and everything else under "Inside:".
"""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("runtime", "actors", "adapters", "promptcorner")
COPIES = {ROOT / f"client/promptcorner_client/{name}.py" for name in ("wire", "shared")}
FILES = sorted(
    path
    for name in (*PACKAGES, "client/promptcorner_client")
    for path in (ROOT / name).rglob("*.py")
    if path not in COPIES
)
FOLDERS = sorted({path.parent for path in FILES})
ROOMS = sorted(
    (folder for folder in FOLDERS if folder.parent.name in ("actors", "adapters")),
)

ENTRY = re.compile(r"^ {0,4}([a-z_0-9.]+)/? {2,}\S")
OUTWARD, INSIDE = "For other rooms:", "Inside:"
HEADLESS = re.compile(
    r"^(What|Whether|Whoever|Who|Of|That|How|Where|Nobody|Somebody|Which|If|As|For|In|At|By|From|To"
    r"|With|Those|Not|Only|Once|When|Until|Its|Their)\b"
)

# The types of a vendor's JSON bear the vendor's names, and are used as `wire.Name`.
# The types of our API bear the names that its clients know.
DICTATED = ("adapters/models/providers/*/wire.py", "adapters/chats/wire/*.py")


def named(path):
    return path.relative_to(ROOT).as_posix()


def room_of(path):
    """Return the room of a file or folder: `runtime`, `actors/chat`."""
    parts = path.relative_to(ROOT).parts
    return parts[0] if parts[0] in ("runtime", "promptcorner") else "/".join(parts[:2])


@cache
def tree_of(path):
    return ast.parse(path.read_text())


@cache
def map_of(folder):
    """Return the names in a folder's map: those for other rooms, and all others."""
    outward, inside = [], []
    names = inside
    for line in (ast.get_docstring(tree_of(folder / "__init__.py")) or "").split("\n"):
        if line.strip() == OUTWARD:
            names = outward
        elif line.strip() == INSIDE:
            names = inside
        elif entry := ENTRY.match(line):
            names.append(entry[1])
    return tuple(outward), tuple(inside)


def there_is_in(folder):
    """Return the names of the modules and folders that lie in a folder."""
    return {
        path.stem
        for path in folder.iterdir()
        if path.stem != "__init__"
        and (path.suffix == ".py" or (path.is_dir() and (path / "__init__.py").exists()))
    }


@pytest.mark.parametrize("folder", FOLDERS, ids=named)
def test_a_folder_maps_all_that_is_in_it(folder):
    outward, inside = map_of(folder)
    mapped = [*outward, *inside]

    assert len(mapped) == len(set(mapped)), f"{named(folder)}: its map names a thing twice"
    # A path with dots is deeper; the folder that it lies in stands in the map as well.
    direct = {name for name in mapped if "." not in name}
    assert direct == there_is_in(folder), (
        f"{named(folder)}/__init__.py maps {sorted(direct)}, "
        f"but there are {sorted(there_is_in(folder))}"
    )
    for name in mapped:
        path = folder.joinpath(*name.split("."))
        assert path.is_dir() or path.with_suffix(".py").exists(), f"{named(path)} is not there"


@cache
def imports_of(path):
    """Return the modules of ours that a file imports, as paths from the root without a suffix."""
    modules = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            modules |= {ROOT.joinpath(*alias.name.split(".")) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            source = ROOT.joinpath(*node.module.split("."))
            for alias in node.names:
                deeper = source / alias.name
                is_module = deeper.with_suffix(".py").exists() or deeper.is_dir()
                modules.add(deeper if is_module else source)
    return {module for module in modules if module.relative_to(ROOT).parts[0] in PACKAGES}


@pytest.mark.parametrize("room", ROOMS, ids=named)
def test_other_rooms_import_only_the_modules_that_a_room_offers(room):
    outward, _ = map_of(room)
    offered = {room.joinpath(*name.split(".")) for name in outward} | {room}

    strays = {
        f"{named(path)} imports {named(target)}"
        for path in FILES
        if room_of(path) != room_of(room)
        for target in imports_of(path)
        if target.is_relative_to(room)
        and not any(target == one or (one != room and one in target.parents) for one in offered)
    }

    assert not strays, (
        f"{named(room)}/__init__.py offers {sorted(outward)} to other rooms; name the module there "
        "if it is meant for them:\n  " + "\n  ".join(sorted(strays))
    )


def test_a_public_class_name_stands_once():
    places = defaultdict(set)
    for path in FILES:
        if any(map(path.match, DICTATED)):
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].add(path)

    twice = {name: sorted(map(named, paths)) for name, paths in places.items() if len(paths) > 1}

    assert not twice, f"one name, one class: {twice}"


@pytest.mark.parametrize("path", FILES, ids=named)
def test_a_docstring_begins_with_a_subject_or_a_verb(path):
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module

    headless = [
        f"line {getattr(node, 'lineno', 1)}: {text.splitlines()[0]}"
        for node in ast.walk(tree_of(path))
        if isinstance(node, kinds) and HEADLESS.match(text := ast.get_docstring(node) or "")
    ]

    assert not headless, (
        f"{named(path)}: begin with a verb (functions) or a noun (classes, modules):\n  "
        + "\n  ".join(headless)
    )
