"""Name the tests of a source file: `python -m tests.which actors/chat/decide.py`.

Three rings are printed, the nearest first: the tests that stand in the file's own place below
`tests`, those that import the file themselves, and those that import it through a module of the
tests (a fake, a fixture). The last line is a command that runs the first two.

Tests that reach the file only through the daemon (`tests/e2e`) or through other modules of the
product are not found: run `make test` for these.
"""

import argparse
import ast
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("runtime", "actors", "adapters", "promptcorner", "client")


def module_of(path):
    """Return the dotted name of a file, `a.b` also for `a/b/__init__.py`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts[1:] if parts[0] == "client" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports_of(path):
    """Return each dotted name that a file imports: modules, and what is taken out of them."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(names)


def is_test(path):
    return path.name.startswith("test_")


def own_tests(path, below):
    """Return the tests in the place below `tests` that mirrors the file's own.

    These are `test_NAME.py`, and every test in a folder `NAME`. For an `__init__` they are all
    tests of its folder.
    """
    folders = path.relative_to(ROOT).parent.parts
    place = below.joinpath(*folders[:1]) if folders[0] == "client" else below.joinpath(*folders)
    if path.name == "__init__.py":
        return set(place.rglob("test_*.py"))
    direct = place / f"test_{path.name}"
    return {each for each in (direct, *(place / path.stem).rglob("test_*.py")) if each.exists()}


def rings_of(path, below=ROOT / "tests"):
    """Return the three rings of tests of a file, each sorted; a test stands in the nearest one."""
    own = own_tests(path, below)
    everything = sorted(below.rglob("*.py"))
    users = {each for each in everything if module_of(path) in imports_of(each)}
    aides = {each for each in users if not is_test(each)}
    while more := {
        each
        for each in everything
        if not is_test(each)
        and each not in aides
        and any(module_of(aide) in imports_of(each) for aide in aides)
    }:
        aides |= more
    through = {
        each
        for each in everything
        if is_test(each)
        and (
            any(module_of(aide) in imports_of(each) for aide in aides)
            or any(aide.name == "conftest.py" and aide.parent in each.parents for aide in aides)
        )
    }
    direct = {each for each in users if is_test(each)} - own
    return sorted(own), sorted(direct), sorted(through - own - direct)


def main(words=None):
    parser = argparse.ArgumentParser("python -m tests.which", description=__doc__.split(":")[0])
    parser.add_argument("file", help="a file of the product, for example actors/chat/decide.py")
    path = (ROOT / parser.parse_args(words).file).resolve()
    if not path.is_file() or not path.is_relative_to(ROOT) or path.suffix != ".py":
        parser.error(f"{path} is no Python file of this project; name one below {PACKAGES}")
    if path.relative_to(ROOT).parts[0] not in PACKAGES:
        parser.error(f"{path.relative_to(ROOT)} is not part of the product; see {PACKAGES}")
    rings = rings_of(path)
    for title, tests in zip(
        ("its own tests", "tests that import it", "tests that import it through another file"),
        rings,
        strict=True,
    ):
        print(f"{title}:")
        print("".join(f"  {test.relative_to(ROOT)}\n" for test in tests) or "  none\n", end="")
    own, direct, _ = rings
    if own or direct:
        near = " ".join(str(test.relative_to(ROOT)) for test in (*own, *direct))
        print(f"\n.venv/bin/pytest -q {near}")
    else:
        print("\nNo test stands near it: run `make test`.")


if __name__ == "__main__":
    sys.exit(main())
