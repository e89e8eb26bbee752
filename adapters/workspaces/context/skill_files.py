"""What lies beside a skill in its workspace, as it is now. All of this runs in a thread."""

import os
from itertools import islice
from posixpath import dirname

from actors.prompts.context.ports import Unreadable
from adapters.workspaces.beneath import Denied, Found, opened, walked
from adapters.workspaces.context.looking import ENTRIES_MAX, SKILL, is_directory, piece

FILES_MAX = 200  # of a skill's directory; those that are over are not listed
_OUT = "leads out of the skill's directory"


def listed(home: str, directory: str) -> tuple[str, ...]:
    """Directories end with a slash; what cannot be read by its name is left out. OSError, Denied:
    there is nothing to list."""
    with walked(home, f"{home}/{directory}") as found:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(found.name or ".", flags, dir_fd=found.directory)
    try:
        with os.scandir(descriptor) as entries:
            shown = (each for each in islice(entries, ENTRIES_MAX) if _is_shown(each.name))
            names = [f"{each.name}/" if is_directory(each) else each.name for each in shown]
    finally:
        os.close(descriptor)
    return tuple(islice(sorted(names), FILES_MAX))


def _is_shown(name: str) -> bool:
    return name != SKILL and not name.startswith(".") and name.isprintable()


def content(home: str, directory: str, path: str, bytes_max: int) -> bytes | Unreadable:
    """As much of a file as that. `path` has been looked at; where it leads has not."""
    try:
        with walked(home, f"{home}/{directory}") as top:
            above = f"{top.path}/"
        with walked(home, f"{home}/{directory}/{path}") as found:
            if fault := _fault(found, above):
                return Unreadable(f"{path}: {fault}")
            with opened(found) as descriptor:
                return piece(descriptor, bytes_max)
    except Denied:
        return Unreadable(f"{path}: {_OUT}, or to nothing that can be read")
    except OSError as error:
        assert error.errno is not None, "the system has said why"
        return Unreadable(f"{path}: {os.strerror(error.errno).lower()}")


def _fault(found: Found, above: str) -> str | None:
    if not f"{found.path}/".startswith(above):
        return _OUT
    if any(part.startswith(".") for part in found.path[len(above) :].split("/")):
        return "hidden files are not shown"
    if found.status is None:
        return f"not found; read_skill lists what is there in {dirname(above)}"
    if found.is_directory:
        return "a directory, not a file"
    return None if found.is_file else "not a file"
