"""Copy into the client what it shares with the daemon: structs, a few functions, the licence.

    .venv/bin/python client/copy_shared.py [--check]

The client is a distribution of its own and imports nothing of the daemon. What both need is written
in the daemon; this program copies it, together with everything that it refers to, into modules of
the client. A test runs it with `--check`, which writes nothing and fails if a copy is out of date.
"""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("runtime", "actors", "adapters")
RUFF = (Path(sys.executable).parent / "ruff", "--config", ROOT / "pyproject.toml")

# What is copied into which module. A class is found by its name alone, because every class name
# stands once in the tree; a function is named with its module.
COPIES = {
    "wire": (
        "The JSON of the API, as msgspec structs.",
        [
            "Chat",
            "ChatStreamEvent",
            "ChatMessagesResponse",
            "CreateChatMessageResponse",
            "EditChatMessageResponse",
            "ChatPromptsResponse",
            "ChatTitle",
            "ChatApprovals",
            "OwnConsentRules",
            "ConsentTrial",
            "ChatCount",
            "UploadChatFileResponse",
            "RefusalBody",
        ],
    ),
    "shared": (
        "Functions that the daemon has as well: waits between tries, schemas, cut texts.",
        [
            "runtime.backoff.delay_seconds",
            "adapters.tools.dispatch.schema_of",
            "adapters.tools.dispatch.read_arguments",
            "actors.tools.output.truncate",
        ],
    ),
}


@cache
def module_of_class(name: str) -> str:
    """Return the dotted name of the module that defines a class."""
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    found = [path for path in files if f"\nclass {name}(" in path.read_text()]
    if len(found) != 1:
        sys.exit(f"{__file__}: {len(found)} modules define the class {name}; name another class")
    return ".".join(found[0].relative_to(ROOT).with_suffix("").parts)


class Source:
    """A module of the daemon: its definitions and imports, by the names that they bind."""

    def __init__(self, module: str) -> None:
        path = ROOT.joinpath(*module.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        self.lines = path.read_text().splitlines()
        self.definitions: dict[str, ast.stmt] = {}
        self.imports: dict[str, tuple[str, str]] = {}  # name → (module, name there; "" for itself)
        for node in ast.parse(path.read_text()).body:
            self._note(node)

    def _note(self, node: ast.stmt) -> None:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                self.definitions[name] = node
            case ast.Assign(targets=[ast.Name(id=name)]):
                self.definitions[name] = node
            case ast.ImportFrom(module=str(module), names=names):
                for alias in names:
                    self.imports[alias.asname or alias.name] = (module, alias.name)
            case ast.Import(names=names):
                for alias in names:
                    self.imports[alias.name] = (alias.name, "")

    def text(self, name: str) -> str:
        """Return the lines of a definition, with the comments right above it."""
        node = self.definitions[name]
        first = node.lineno - 1
        while first > 0 and self.lines[first - 1].startswith("#"):
            first -= 1
        return "\n".join(self.lines[first : node.end_lineno])


source = cache(Source)


class Copy:
    """The text of one module of the client, as it grows by definitions."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str], str] = {}
        self._imports: set[str] = set()

    def add(self, module: str, name: str) -> None:
        """Copy a definition, after all that it refers to."""
        if (module, name) in self._texts:
            return
        self._texts[module, name] = ""  # it may refer to itself
        here = source(module)
        if name not in here.definitions:
            sys.exit(f"{__file__}: {module} no longer defines {name}")
        for node in ast.walk(here.definitions[name]):
            if isinstance(node, ast.Name):
                self._refer(module, node.id)
        del self._texts[module, name]
        self._texts[module, name] = here.text(name)

    def _refer(self, module: str, name: str) -> None:
        here = source(module)
        if name in here.definitions:
            self.add(module, name)
        elif name in here.imports:
            origin, original = here.imports[name]
            if origin.partition(".")[0] in PACKAGES:
                self.add(origin, original)
            else:
                line = f"from {origin} import {original}" if original else f"import {origin}"
                self._imports.add(line)

    def written(self, purpose: str) -> str:
        """Return the module, in the form that ruff gives it."""
        head = (
            f'"""{purpose}\n\nCopied from the daemon by client/copy_shared.py: change it there."""'
        )
        parts = [head, "\n".join(sorted(self._imports)), *self._texts.values()]
        text = "\n\n\n".join(parts) + "\n"
        for words in (("check", "--select", "I", "--fix", "--quiet"), ("format", "--quiet")):
            name = ("--stdin-filename", ROOT / "client/promptcorner_client/copied.py", "-")
            command = [RUFF[0], words[0], *RUFF[1:], *words[1:], *name]
            text = subprocess.run(
                command, input=text, capture_output=True, text=True, check=True
            ).stdout
        return text


def main() -> int:
    """Write the copies, or with --check only compare them; return an exit code."""
    stale = []
    texts = {ROOT / "client/LICENSE": (ROOT / "LICENSE").read_text()}
    for target, (purpose, names) in COPIES.items():
        copy = Copy()
        for name in names:
            module, _, plain = name.rpartition(".")
            copy.add(module or module_of_class(plain), plain)
        path = ROOT / "client/promptcorner_client" / f"{target}.py"
        texts[path] = copy.written(purpose)
    for path, text in texts.items():
        if not path.exists() or path.read_text() != text:
            stale.append(path.relative_to(ROOT).as_posix())
            if "--check" not in sys.argv:
                path.write_text(text)
    if stale and "--check" in sys.argv:
        sys.stderr.write(f"{', '.join(stale)}: out of date; run: make copies\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
