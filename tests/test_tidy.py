"""The house rules that a linter does not know. Each failure says what to do instead."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("runtime", "actors", "adapters", "promptcorner", "client/promptcorner_client")
MODULES = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
EVERYTHING = sorted(
    path for name in (*PACKAGES, "tests", "bench") for path in (ROOT / name).rglob("*.py")
)

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70
FOLDER_MODULES_MAX = 12
CLOCKS = ("time.time", "time.monotonic", "time.perf_counter", "datetime.now", "datetime.utcnow")
HOMES = {  # what may be called only there
    "trio.CancelScope": ("runtime/scope.py",),
    "trio.open_memory_channel": ("runtime/mailbox.py",),
    "uuid4": ("adapters/", "client/"),
    # The keeper of the embedded database is a process of its own and has no trio.
    **dict.fromkeys(CLOCKS, ("runtime/clock.py", "adapters/postgres/embedded/")),
}
# What takes a thread of trio's shared limiter, or of anyio's: a disk that hangs there would keep
# everything else from its threads. Said is what takes its place, and where it may stand.
SHARED_THREADS = {
    "trio.run": (
        "adapters.settings.names.run, which looks names up in their own threads",
        "adapters/settings/names.py",
    ),
    "trio.to_thread.run_sync": ("runtime.threads", "runtime/threads.py"),
    "trio.to_thread.current_default_thread_limiter": ("runtime.threads", ""),
    "trio.from_thread.check_cancelled": ("runtime.threads.check_wanted", ""),
    "trio.Path": ("pathlib.Path in runtime.threads", ""),
    "trio.open_file": ("open in runtime.threads", ""),
    "trio.wrap_file": ("open in runtime.threads", ""),
    "trio.run_process": ("adapters.workspaces.disk", ""),
    # The commands that copy a database have no workspaces.
    "trio.lowlevel.open_process": ("adapters.workspaces.disk", "adapters/postgres/dump.py"),
    "trio.socket.socket": ("a socket made in runtime.threads, then from_stdlib_socket", ""),
    "trio.socket.getaddrinfo": ("adapters.settings.names.look_up", ""),
    "trio.socket.getnameinfo": ("adapters.settings.names.look_up", ""),
    "trio.socket.getprotobyname": ("its number", ""),
    "anyio.run": ("adapters.settings.names.run", ""),
    "anyio.to_thread.run_sync": ("runtime.threads", "client/promptcorner_client/tools.py"),
    "anyio.Path": ("pathlib.Path in runtime.threads", ""),
    "anyio.open_file": ("open in runtime.threads", ""),
    "anyio.run_process": ("adapters.workspaces.disk", ""),
    "anyio.open_process": ("adapters.workspaces.disk", ""),
    "anyio.getaddrinfo": ("adapters.settings.names.look_up", ""),
    "asyncio.to_thread": ("runtime.threads", ""),
}
WORDLESS = {"utils", "helpers", "common", "manager", "misc", "types", "models", "base"}
PRIVATE = re.compile(r"\._(?!_)")  # behind a dot: of another module
SQL = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER)\s[^\n]*\n")


def named(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_is_tidy(path):
    text, where = path.read_text(), named(path)

    faults = [*_of_file(path, text), *_of_tree(ast.parse(text), where)]

    assert not faults, f"{where}:\n  " + "\n  ".join(faults)


@pytest.mark.parametrize("path", EVERYTHING, ids=named)
def test_a_file_says_what_it_is(path):
    text = path.read_text()

    assert not text.strip() or ast.get_docstring(ast.parse(text)), (
        f"{named(path)}: no docstring; say in its first line what it is"
    )


def test_a_test_looks_before_it_cancels_the_nursery_that_it_runs_in():
    """The fixture's scope holds the test as well: its next await ends it, and it is green."""
    end = "nursery.cancel_scope.cancel()"
    faults = []
    for path in (ROOT / "tests").rglob("test_*.py"):
        if end not in (text := path.read_text()):
            continue
        for test in ast.walk(ast.parse(text)):
            if not isinstance(test, ast.AsyncFunctionDef) or not test.name.startswith("test_"):
                continue
            if "nursery" in [each.arg for each in test.args.args]:
                lines = [each.lineno for each in ast.walk(test) if _is_call(each, end)]
                seen = [each.lineno for each in ast.walk(test) if isinstance(each, ast.Assert)]
                if lines and seen and max(lines) < max(seen):
                    faults.append(f"{named(path)}: {test.name} asserts behind {end}")

    assert not faults, "\n".join(faults)


def _is_call(node, text):
    return isinstance(node, ast.Call) and ast.unparse(node) == text


def test_no_name_in_a_class_hides_the_type_of_its_annotations():
    """From Python 3.14 on an annotation is read when it is asked for, and finds the field first."""
    hidden = [
        f"{path.relative_to(ROOT)}: {made.name}.{name} is read as a type; give the type a name"
        for path in MODULES
        for made in ast.walk(ast.parse(path.read_text()))
        if isinstance(made, ast.ClassDef)
        for name in sorted(_names(made) & _annotated(made))
    ]

    assert not hidden


def _names(made):
    """What the body of a class gives a name, which its annotations find first."""
    fields = [each.target for each in made.body if isinstance(each, ast.AnnAssign)]
    assigned = [name for each in made.body if isinstance(each, ast.Assign) for name in each.targets]
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    named = {each.name for each in made.body if isinstance(each, functions)}
    return named | {each.id for each in (*fields, *assigned) if isinstance(each, ast.Name)}


def _annotated(made):
    """The names in the annotations of a class, and of its functions."""
    found = [each.annotation for each in made.body if isinstance(each, ast.AnnAssign)]
    for each in made.body:
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            asked = (*each.args.posonlyargs, *each.args.args, *each.args.kwonlyargs)
            found += [each.returns, *(argument.annotation for argument in asked)]
    return {
        name.id
        for annotation in found
        if annotation is not None
        for name in ast.walk(annotation)
        if isinstance(name, ast.Name)
    }


def test_a_folder_can_be_taken_in_at_a_glance():
    counts = {}
    for path in MODULES:
        if path.name != "__init__.py":
            counts[named(path.parent)] = counts.get(named(path.parent), 0) + 1

    crowded = {folder: count for folder, count in counts.items() if count > FOLDER_MODULES_MAX}

    assert not crowded, f"split by what changes together (at most {FOLDER_MODULES_MAX}): {crowded}"


@pytest.mark.parametrize("name", SHARED_THREADS)
def test_what_shares_its_threads_with_everything_else_is_found(name):
    for code in (f"{name}()", f"await_all(partial({name}, 1))"):
        [fault] = _of_tree(ast.parse(code), "adapters/anything.py")
        assert name in fault


def test_shared_threads_cannot_be_had_under_another_name():
    for code in ("from trio import run_process", "from trio.to_thread import run_sync"):
        assert list(_of_tree(ast.parse(code), "adapters/anything.py"))


def test_the_client_shares_what_the_daemon_has():
    command = [sys.executable, ROOT / "client/copy_shared.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (0, "") == (done.returncode, done.stderr)


def _of_file(path, text):
    lines = text.count("\n")
    if lines > FILE_LINES_MAX:
        yield f"{lines} lines, the limit is {FILE_LINES_MAX}: split it by what changes together"
    if path.stem in WORDLESS:
        yield f"{path.stem} names nothing: find the word for what is in it"
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"\b(TODO|FIXME|XXX)\b", line):
            yield f"line {number}: build it, or say in the documents that it is not there"


def _imported(node):
    module = f"{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
    return [f"{module}{alias.name}" for alias in node.names]


def _of_tree(tree, where):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = node.end_lineno - node.lineno + 1
            if length > FUNCTION_LINES_MAX:
                yield f"{node.name} has {length} lines, the limit is {FUNCTION_LINES_MAX}"
        elif isinstance(node, ast.Attribute) and (shared := SHARED_THREADS.get(ast.unparse(node))):
            instead, homes = shared
            if where not in homes.split():
                yield f"line {node.lineno}: {ast.unparse(node)} shares its threads; use {instead}"
        elif isinstance(node, ast.ImportFrom) and node.module in (
            "trio",
            "trio.to_thread",
            "anyio",
        ):
            yield f"line {node.lineno}: import {node.module}, and name in full what you use of it"
        elif isinstance(node, ast.Call):
            homes = HOMES.get(ast.unparse(node.func))
            if homes is not None and not where.startswith(homes):
                called = ast.unparse(node.func)
                yield f"line {node.lineno}: {called} belongs in {', '.join(homes)}"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            if private := next(filter(PRIVATE.search, _imported(node)), None):
                yield f"line {node.lineno}: {private} is private, and may go with any release"
        elif isinstance(node, ast.ExceptHandler) and (
            node.type is None or ast.unparse(node.type) == "BaseException"
        ):
            yield f"line {node.lineno}: catches BaseException; name the error, or let it pass"
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value)
        ):
            yield f"line {node.lineno}: SQL in Python; give it a name in a .sql file"
