"""The skills that a chat has, its owner's own and those of its workspace, and the files beside a
skill.

A warm index asks the database nothing: it forgets a user's skills as soon as it hears, from
whatever process, that the user has changed one, and after a while in any case, should the news have
got lost. Files are listed and read in a thread.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from posixpath import dirname
from uuid import UUID

from actors.law.chat import Chat
from actors.law.ids import UserId
from actors.law.store.hints import CatalogueChanged, HintsLost, News
from actors.law.store.ports import Bus
from actors.prompts.ports import NO_SKILLS, SkillText, UnreadableFile, WorkspaceSkills
from actors.prompts.skills import (
    FILE_BYTES_MAX,
    ListedSkill,
    SkillSource,
    SkillSummary,
    list_skills,
)
from adapters.models.prompt_texts import visible_text
from adapters.models.skill_file import InvalidSkill, parse_skill
from adapters.models.store.settings import SkillStore
from adapters.settings.caching import Cache, CacheStatistics
from adapters.workspaces.context.scan import ENTRIES_MAX, SKILL, is_directory, piece
from adapters.workspaces.safe_paths import FoundPath, PathDenied, open_found, walk_below

KEEP_SECONDS = 60.0  # should news of a change have got lost unnoticed
USERS_MAX = 16_384  # whose skills are kept; the one not asked about for longest is forgotten


class SkillIndex:
    """The skills of chats, kept in memory. It follows the bus as long as it is used."""

    def __init__(self, skills: SkillStore, workspace: WorkspaceSkills = NO_SKILLS) -> None:
        self._skills = skills
        self._workspace = workspace
        self._personal: Cache[UserId, tuple[SkillSummary, ...]] = Cache(
            self._read, keep_seconds=KEEP_SECONDS, max_entries=USERS_MAX
        )

    @contextmanager
    def follow(self, bus: Bus) -> Iterator[None]:
        with bus.follow(self.hear, CatalogueChanged):
            yield

    def hear(self, news: News) -> None:
        match news:
            case CatalogueChanged(user=UUID() as user):
                self._personal.drop(UserId(user))
            case HintsLost():
                self._personal.drop_all()
            case _:
                pass

    async def of(self, chat: Chat) -> tuple[ListedSkill, ...]:
        personal = await self._personal.get(chat.owner_id)
        return list_skills(personal, await self._workspace.of(chat))

    async def text(self, chat: Chat, entry: ListedSkill) -> SkillText | UnreadableFile:
        """Return the text of a skill. Its `directory` is empty if the skill is the user's own."""
        name = entry.skill.name
        if entry.source is SkillSource.WORKSPACE:
            return await self._workspace.text(chat, name)
        stored = await self._skills.read(chat.owner_id, name)
        skill = parse_skill(stored.content or "") if stored is not None else None
        if skill is None or isinstance(skill, InvalidSkill):
            return UnreadableFile(f"name: there is no skill {name!r} any more")
        return SkillText("", skill.body)

    async def file(self, chat: Chat, entry: ListedSkill, path: str) -> bytes | UnreadableFile:
        if entry.source is SkillSource.PERSONAL:
            return UnreadableFile("name: skills of the user's own have no files")
        return await self._workspace.file(chat, entry.skill.name, path, bytes_max=FILE_BYTES_MAX)

    def statistics(self) -> CacheStatistics:
        return self._personal.statistics()

    async def _read(self, user: UserId) -> tuple[SkillSummary, ...]:
        return tuple(
            SkillSummary(skill.name, visible_text(skill.description))
            for skill in await self._skills.of(user)
        )


FILES_MAX = 200  # of a skill's directory; those that are over are not listed
_OUT = "leads out of the skill's directory"


def list_files(home: str, directory: str) -> tuple[str, ...]:
    """List the files beside a skill. Directories end with a slash; what cannot be read by its name
    is left out. OSError, PathDenied: there is nothing to list."""
    with walk_below(home, f"{home}/{directory}") as found:
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


def read_file(home: str, directory: str, path: str, bytes_max: int) -> bytes | UnreadableFile:
    """Return a file's content, up to `bytes_max`. `path` has been checked as text; here it is
    checked where it leads."""
    try:
        with walk_below(home, f"{home}/{directory}") as top:
            above = f"{top.path}/"
        with walk_below(home, f"{home}/{directory}/{path}") as found:
            if fault := _fault(found, above):
                return UnreadableFile(f"{path}: {fault}")
            with open_found(found) as descriptor:
                return piece(descriptor, bytes_max)
    except PathDenied:
        return UnreadableFile(f"{path}: {_OUT}, or to nothing that can be read")
    except OSError as error:
        assert error.errno is not None, "the system has said why"
        return UnreadableFile(f"{path}: {os.strerror(error.errno).lower()}")


def _fault(found: FoundPath, above: str) -> str | None:
    if not f"{found.path}/".startswith(above):
        return _OUT
    if any(part.startswith(".") for part in found.path[len(above) :].split("/")):
        return "hidden files are not shown"
    if found.status is None:
        return f"not found; read_skill lists what is there in {dirname(above)}"
    if found.is_directory:
        return "a directory, not a file"
    return None if found.is_file else "not a file"
