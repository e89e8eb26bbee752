"""The files of a workspace that are meant for agents, as one look at it found them. Pure.

These are instruction files (AGENTS.md and similar), skills, and settings for servers of tools. A
chat is told of them as they were when it was given its workspace, or when a newer look was asked
for, so its prompt stays the same from turn to turn. A digest tells whether the files have changed.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from hashlib import sha256

from actors.prompts.skills import SkillSummary

RESOURCE_BYTES_MAX = 64 * 1024  # of one; a larger one is shown, and not used
TOTAL_BYTES_MAX = 2 * 1024 * 1024  # of all that are used; from the first that is over on: excluded
RESOURCES_MAX = 500  # the rest is excluded: shown, and not used


class ResourceKind(Enum):
    """The kind of a resource. The bounds let kinds in by this order."""

    INSTRUCTION_FILE = "instruction_file"
    MCP_CONFIG = "mcp_config"
    SKILL = "skill"


_ORDER = {kind: place for place, kind in enumerate(ResourceKind)}


class Fitness(Enum):
    """The reason why a resource is used or not."""

    OK = "ok"
    OVERSIZE = "oversize"
    UNREADABLE = "unreadable"  # the system does not let us
    INVALID = "invalid"  # it is not what its name says, or leads elsewhere
    EXCLUDED = "excluded"  # there are too many


@dataclass(frozen=True, slots=True)
class Resource:
    """One file. `text` is the part of it that is used: of a skill its text without the front
    matter."""

    path: str  # below the workspace's directory
    kind: ResourceKind
    size_bytes: int
    fitness: Fitness = Fitness.OK
    why: str = ""  # it is not used, for people
    text: str = ""
    name: str = ""  # of a skill
    description: str = ""


@dataclass(frozen=True, slots=True)
class WorkspaceResources:
    """The resources at one moment. `system` is the operating system of the workspace."""

    system: str
    resources: tuple[Resource, ...] = ()

    @property
    def characters(self) -> int:
        """Return roughly how much memory it takes."""
        return sum(len(each.text) + len(each.description) for each in self.resources)

    def skill(self, name: str) -> Resource | None:
        return next((each for each in _used(self, ResourceKind.SKILL) if each.name == name), None)

    @property
    def skills(self) -> tuple[SkillSummary, ...]:
        return tuple(
            SkillSummary(each.name, each.description) for each in _used(self, ResourceKind.SKILL)
        )

    @property
    def settings(self) -> tuple[str, ...]:
        """Return the settings for servers of tools. The first that names a server counts."""
        return tuple(each.text for each in _used(self, ResourceKind.MCP_CONFIG))


def within_bounds(found: Iterable[Resource]) -> tuple[Resource, ...]:
    """Order the resources, and exclude those that are over the bounds."""
    ordered = sorted(found, key=lambda each: (_ORDER[each.kind], each.path))
    return tuple(_within(ordered))


def _within(ordered: Sequence[Resource]) -> Iterator[Resource]:
    room, is_full = TOTAL_BYTES_MAX, False
    for at, resource in enumerate(ordered):
        if at >= RESOURCES_MAX:
            yield _excluded(resource, f"a workspace has at most {RESOURCES_MAX} resources")
            continue
        if resource.fitness is Fitness.OK:
            is_full = is_full or resource.size_bytes > room
            if is_full:
                yield _excluded(resource, f"all together have at most {TOTAL_BYTES_MAX} bytes")
                continue
            room -= resource.size_bytes
        yield resource


def _excluded(resource: Resource, why: str) -> Resource:
    return replace(resource, fitness=Fitness.EXCLUDED, why=why, text="")


def digest(snapshot: WorkspaceResources) -> bytes:
    """Return a digest: the same for all that agents and users could not tell apart."""
    facts = [
        [each.path, each.kind.value, each.fitness.value, each.name, each.description, each.text]
        for each in snapshot.resources
    ]
    return sha256(json.dumps([snapshot.system, facts]).encode()).digest()


def instructions_text(snapshot: WorkspaceResources, home: str) -> str | None:
    """Return the instructions of a workspace, as an agent is told them, or None if there are
    none."""
    files = [each for each in _used(snapshot, ResourceKind.INSTRUCTION_FILE) if each.text]
    if not files:
        return None
    said = "\n\n".join(f'<file path="{home}/{each.path}">\n{each.text}\n</file>' for each in files)
    return (
        f"<workspace-context>\nOperating system: {snapshot.system}\nWorking directory: {home}\n"
        f"{FILES}\n\n{said}\n</workspace-context>"
    )


FILES = """\
These files stand there for whoever works in this workspace. Follow them in your work there, as \
far as the user does not say otherwise; of two that contradict each other the later one counts."""


def _used(snapshot: WorkspaceResources, kind: ResourceKind) -> Iterator[Resource]:
    return (each for each in snapshot.resources if each.kind is kind and each.fitness is Fitness.OK)
