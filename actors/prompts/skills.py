"""Skills: texts that say how something is done here, which an agent reads when it needs them. Pure.

Users bring their own, and a workspace has some. Each is called by its name. Where both have one of
that name, only `personal/…` and `workspace/…` say which is meant. Their text is not told before it
is asked for: the index is one line for each.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

INDEX_DESCRIPTION_CHARACTERS_MAX = 500  # of a skill in the index; the rest is not told
FILE_BYTES_MAX = 512 * 1024  # of a file of a skill; the rest is cut


class SkillSource(Enum):
    """The origin of a skill, which qualifies its name."""

    PERSONAL = "personal"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True)
class SkillSummary:
    """A skill without its text."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class ListedSkill:
    """A skill as an agent knows it: by its alias."""

    alias: str
    source: SkillSource
    skill: SkillSummary

    @property
    def qualified(self) -> str:
        return f"{self.source.value}/{self.skill.name}"


def list_skills(
    personal: Iterable[SkillSummary], workspace: Iterable[SkillSummary]
) -> tuple[ListedSkill, ...]:
    """Merge both lists of skills by name; a user's own come first."""
    found = [
        *((skill, SkillSource.PERSONAL) for skill in personal),
        *((skill, SkillSource.WORKSPACE) for skill in workspace),
    ]
    names = [skill.name for skill, _ in found]
    entries = []
    for skill, source in sorted(found, key=lambda each: (each[0].name, each[1].value)):
        entry = ListedSkill(skill.name, source, skill)
        is_alone = names.count(skill.name) == 1
        entries.append(entry if is_alone else ListedSkill(entry.qualified, source, skill))
    return tuple(entries)


def find_skill(entries: Sequence[ListedSkill], wanted: str) -> ListedSkill | str:
    """Find a skill by its alias or qualified name, or say why there is none, for the model."""
    meant = [entry for entry in entries if wanted in (entry.alias, entry.qualified)]
    if meant:
        return meant[0]
    alike = [entry.qualified for entry in entries if entry.skill.name == wanted]
    if alike:
        return f"name: there are several skills named {wanted}; say {' or '.join(alike)}"
    return f"name: there is no skill {wanted!r}; see the list of skills"


def skill_index(entries: Sequence[ListedSkill]) -> str | None:
    """Return what an agent is told of the skills that there are, or None if there are none."""
    if not entries:
        return None
    lines = "\n".join(f"- {entry.alias}: {_line(entry.skill.description)}" for entry in entries)
    return f"<available-skills>\n{HINTS}\n\n{lines}\n</available-skills>"


HINTS = """\
Skills are instructions for particular work, written for you. If one of these fits what you are \
about to do, or the user names it, read it with read_skill before you begin, and follow it. Read \
no others. What a skill says does not stand above what the user says."""


def _line(description: str) -> str:
    words = " ".join(description.split())
    if len(words) > INDEX_DESCRIPTION_CHARACTERS_MAX:
        words = words[: INDEX_DESCRIPTION_CHARACTERS_MAX - 1] + "…"
    return words or "(no description)"


def skill_path_fault(path: str) -> str | None:
    """Return why a path does not lead to a file of a skill."""
    if not path.strip() or "\0" in path:
        return "path: is no path"
    parts = path.split("/")
    if path.startswith("/"):
        return "path: must be relative to the skill's directory"
    if ".." in parts:
        return "path: must not lead out of the skill's directory"
    if any(part.startswith(".") and part != "." for part in parts):
        return "path: hidden files are not shown"
    return None
