"""One look at a workspace: what stands in it for agents, and where to listen for more of it.

It looks at the top of three directories and at the containers of skills right below them; it never
descends further, nor climbs. Symbolic links are followed as long as they stay in the directory
that is looked at. All of this runs in a thread.
"""

import errno
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from posixpath import basename, dirname

import msgspec

from actors.law.parts.json_text import nests_too_deep
from actors.prompts.resources import (
    RESOURCE_BYTES_MAX,
    Fitness,
    Resource,
    ResourceKind,
    WorkspaceResources,
    digest,
    within_bounds,
)
from adapters.models.prompt_texts import visible_text
from adapters.models.skill_file import InvalidSkill, parse_skill
from adapters.workspaces.safe_paths import FoundPath, PathDenied, open_found, walk_below

OWN = ".promptcorner"
ROOTS = ("", OWN, f"{OWN}/skills")  # below the workspace's directory
INSTRUCTION_FILES = ("AGENTS.md", "CLAUDE.md", ".cursorrules")
MCP_CONFIG = ".mcp.json"
CONTAINERS = ("skills", ".agents/skills", ".claude/skills", ".codex/skills")  # below each root
SKILL = "SKILL.md"

ENTRIES_MAX = 10_000  # of a container; what is over is not looked at
FOUND_MAX = 1_000  # resources; no more are looked at, nor shown

_SAID = {errno.EACCES: "permission denied", errno.EPERM: "permission denied"}
_LEADS_OUT = "leads out of the directory that it stands in"
WatchedNames = Mapping[str, frozenset[str] | None]


@dataclass(frozen=True, slots=True)
class WorkspaceScan:
    """The result of one look. `places` are the directories in which a change may make another
    result, each with the names that matter there; None stands for all names."""

    snapshot: WorkspaceResources
    digest: bytes
    places: WatchedNames


def scan(home: str) -> WorkspaceScan:
    """Look at a workspace. OSError: its directory itself cannot be read."""
    os.stat(home)
    search = _Search(home)
    search.everywhere()
    snapshot = WorkspaceResources(platform.system(), within_bounds(search.found))
    places = {path: None if names is None else frozenset(names) for path, names in search.places}
    return WorkspaceScan(snapshot, digest(snapshot), places)


@dataclass(frozen=True, slots=True)
class _Root:
    """A directory that is searched: its `name` below the workspace's directory, and `top`, the path
    at which it really lies."""

    name: str
    top: str

    def holds(self, found: FoundPath) -> bool:
        return found.path == self.top or found.path.startswith(f"{self.top}/")

    def at(self, name: str) -> str:
        return f"{self.name}/{name}" if self.name else name


@dataclass(frozen=True, slots=True)
class _Fault:
    fitness: Fitness
    why: str
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    size_bytes: int


class _Search:
    def __init__(self, home: str) -> None:
        self._home = home
        self._seen: set[tuple[int, int]] = set()  # files and containers, under whatever name
        self._skills: dict[str, str] = {}  # where the skill of a name stands
        self._places: dict[str, set[str] | None] = {}
        self.found: list[Resource] = []

    @property
    def places(self) -> Iterator[tuple[str, set[str] | None]]:
        return iter(self._places.items())

    def everywhere(self) -> None:
        for name in ROOTS:
            self._mind(dirname(f"{self._home}/{name}"), {basename(name)} if name else set())
            top = self._top(name)
            if top is not None:
                self._below(_Root(name, top))

    def _top(self, name: str) -> str | None:
        try:
            with walk_below(self._home, f"{self._home}/{name}") as found:
                return found.path if found.is_directory else None
        except (PathDenied, OSError):
            return None

    def _below(self, root: _Root) -> None:
        files = {*INSTRUCTION_FILES, MCP_CONFIG}
        self._mind(root.top, files | {container.partition("/")[0] for container in CONTAINERS})
        for name in INSTRUCTION_FILES:
            self._file(root, name, ResourceKind.INSTRUCTION_FILE)
        self._file(root, MCP_CONFIG, ResourceKind.MCP_CONFIG)
        if basename(root.name) == "skills":
            self._container(root, root.name)
        for name in CONTAINERS:
            self._container(root, root.at(name))

    def _mind(self, place: str, names: set[str] | None) -> None:
        known = self._places.get(place, set())
        self._places[place] = None if known is None or names is None else known | names

    # files

    def _file(self, root: _Root, name: str, kind: ResourceKind) -> None:
        path = root.at(name)
        file = self._read(root, path)
        if file is None:
            return
        if isinstance(file, _Text) and kind is ResourceKind.MCP_CONFIG:
            file = _settings(file)
        if isinstance(file, _Fault):
            self.found.append(Resource(path, kind, file.size_bytes, file.fitness, file.why))
            return
        text = visible_text(file.text) if kind is ResourceKind.INSTRUCTION_FILE else file.text
        self.found.append(Resource(path, kind, file.size_bytes, text=text))

    def _read(self, root: _Root, path: str) -> _Text | _Fault | None:
        """Read a file. Return None if there is nothing, or if it was read under another name
        already."""
        try:
            with walk_below(self._home, f"{self._home}/{path}") as found:
                if found.status is None or not self._is_new(found):
                    return None
                if not root.holds(found):
                    return _Fault(Fitness.INVALID, _LEADS_OUT)
                self._mind(dirname(found.path), {basename(found.path)})
                return _content(found)
        except PathDenied:
            return _Fault(Fitness.INVALID, _LEADS_OUT)
        except OSError as error:
            return None if error.errno in (errno.ENOENT, errno.ENOTDIR) else _unreadable(error)

    def _is_new(self, found: FoundPath) -> bool:
        assert found.status is not None, "something is there"
        key = (found.status.st_dev, found.status.st_ino)
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new

    # skills

    def _container(self, root: _Root, path: str) -> None:
        self._mind(f"{self._home}/{dirname(path)}".rstrip("/"), {basename(path)})
        try:
            with walk_below(self._home, f"{self._home}/{dirname(path)}") as above:
                if not above.is_directory:
                    return
            with walk_below(self._home, f"{self._home}/{path}") as found:
                if not found.is_directory:
                    return
                if not root.holds(found):
                    raise PathDenied(_LEADS_OUT)
                if not self._is_new(found):
                    return
                self._mind(found.path, None)
                names = _directories(found)
        except PathDenied:
            self.found.append(Resource(path, ResourceKind.SKILL, 0, Fitness.INVALID, _LEADS_OUT))
            return
        except OSError as error:
            fault = _unreadable(error)
            self.found.append(Resource(path, ResourceKind.SKILL, 0, fault.fitness, fault.why))
            return
        for name in names:
            if len(self.found) < FOUND_MAX:
                self._skill(root, path, name)

    def _skill(self, root: _Root, container: str, name: str) -> None:
        path = f"{container}/{name}/{SKILL}"
        self._mind(f"{self._home}/{container}/{name}", {SKILL})
        file = self._read(root, path)
        found = self._fit(path, name, file) if isinstance(file, _Text) else file
        if isinstance(found, _Fault):
            why = found.why
            found = Resource(
                path, ResourceKind.SKILL, found.size_bytes, found.fitness, why, name=name
            )
        if found is not None:
            self.found.append(found)

    def _fit(self, path: str, name: str, file: _Text) -> Resource | _Fault:
        skill = parse_skill(file.text, is_own=False)
        if isinstance(skill, InvalidSkill):
            return _Fault(Fitness.INVALID, f"{skill.field}: {skill.why}", file.size_bytes)
        if skill.name != name:
            why = f"name: is {skill.name}, and has to be that of its directory"
            return _Fault(Fitness.INVALID, why, file.size_bytes)
        first = self._skills.setdefault(name, path)
        if first != path:
            why = f"name: another skill is called that, {first}"
            return _Fault(Fitness.INVALID, why, file.size_bytes)
        says = visible_text(skill.description)
        return Resource(
            path, ResourceKind.SKILL, file.size_bytes, text=skill.body, name=name, description=says
        )


def _content(found: FoundPath) -> _Text | _Fault:
    if not found.is_file:
        return _Fault(Fitness.INVALID, "is not a file")
    with open_found(found) as descriptor:
        size = os.fstat(descriptor).st_size
        content = piece(descriptor, RESOURCE_BYTES_MAX + 1) if size <= RESOURCE_BYTES_MAX else b""
    size = max(size, len(content))
    if size > RESOURCE_BYTES_MAX:
        why = f"has {size} bytes, may have {RESOURCE_BYTES_MAX}"
        return _Fault(Fitness.OVERSIZE, why, size)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return _Fault(Fitness.INVALID, "is not text in UTF-8", size)
    if "\0" in text:
        return _Fault(Fitness.INVALID, "has a zero byte in it", size)
    return _Text(text, size)


def piece(descriptor: int, bytes_max: int) -> bytes:
    """Return the beginning of an open file, up to `bytes_max`."""
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        return file.read(bytes_max)


def _settings(file: _Text) -> _Text | _Fault:
    try:
        msgspec.json.decode(file.text, type=dict[str, msgspec.Raw])
        is_fit = not nests_too_deep(file.text)
    except (msgspec.DecodeError, RecursionError):
        is_fit = False
    return file if is_fit else _Fault(Fitness.INVALID, "is not a JSON object", file.size_bytes)


def _unreadable(error: OSError) -> _Fault:
    assert error.errno is not None, "the system has said why"
    return _Fault(Fitness.UNREADABLE, _SAID.get(error.errno) or os.strerror(error.errno).lower())


def _directories(found: FoundPath) -> Sequence[str]:
    """Return the names of directories, and of links to directories, that may be skills."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(found.name or ".", flags, dir_fd=found.directory)
    try:
        with os.scandir(descriptor) as entries:
            names = [each.name for each in islice(entries, ENTRIES_MAX) if is_directory(each)]
    finally:
        os.close(descriptor)
    return sorted(name for name in names if not name.startswith(".") and name.isprintable())


def is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link in a circle
        return False
