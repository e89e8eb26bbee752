"""The branches that chats work on, found out after their commands that have to do with git.

The question is asked in the sandbox, by a command of ours, so that nothing which stands in a
workspace can make git do more there than the chat itself could. A chat whose commands name neither
git nor the program of a forge costs nothing; of commands that end close together one look is made.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NoReturn
from uuid import UUID

import trio

from actors.law.ids import ChatId, chat_name
from adapters.chats.changes.pull_requests import is_branch, plain_origin, repository_of
from adapters.chats.changes.store import BranchNote, BranchStore
from adapters.settings import Forge
from adapters.workspaces.commands.processes import ProcessSpec
from adapters.workspaces.local import LocalWorkspaces
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

WAITING_MAX = 1_024  # chats whose branch is to be looked at; one more takes the place of the oldest
LOOKS_AT_ONCE_MAX = 4
LOOK_SECONDS_MAX = 8.0  # then the next command of the chat is waited for

_OF_GIT = re.compile(r"\b(?:git|gh|glab|hub|jj)\b")
_OF_FORGE = re.compile(r"\b(?:push|pull|fetch|gh|glab|hub|jj)\b")

# The repository is the one of the directory that the command ran in, or else the one below it in
# which something was done last: a chat often works below its workspace with `cd` or `git -C`.
_LOOK = """
cd {workdir} 2>/dev/null || exit 0
top=$(git rev-parse --show-toplevel 2>/dev/null)
if [ -z "$top" ]; then
  top=$(ls -1dt ./*/.git ./*/*/.git 2>/dev/null | head -n 1)
  top=${{top%/.git}}
fi
[ -n "$top" ] && cd "$top" 2>/dev/null || exit 0
branch=$(git symbolic-ref --quiet --short HEAD) || exit 0
remote=$(git config --get "branch.$branch.pushRemote" || git config --get remote.pushDefault ||
         git config --get "branch.$branch.remote" || echo origin)
printf '%s\\n' "$branch"
git config --get "remote.$remote.pushurl" || git config --get "remote.$remote.url"
"""


@dataclass(frozen=True, slots=True)
class EndedCommand:
    """The place of a command that may have changed the branch of its chat."""

    workspace: UUID
    workdir: str
    is_news: bool  # it may have spoken with the forge


@dataclass(frozen=True, slots=True)
class BranchFinderStatistics:
    waiting: Annotated[int, GaugeMetric("Chats whose branch is to be looked at.")]
    looking: Annotated[int, GaugeMetric("Chats whose branch is being looked at.")]
    looks_count: Annotated[int, CounterMetric("Looks at the branch of a chat.")]
    noted_count: Annotated[int, CounterMetric("Branches of chats that were noted.")]
    dropped_count: Annotated[int, CounterMetric("Looks that were dropped: too many waited.")]


class BranchFinder:
    """Finds out which branch a chat works on. `run` it, and call `note_end` from anywhere."""

    def __init__(
        self, workspaces: LocalWorkspaces, store: BranchStore, forges: Sequence[Forge]
    ) -> None:
        self._workspaces = workspaces
        self._store = store
        self._forges = tuple(forges)
        self._waiting: dict[ChatId, EndedCommand] = {}
        self._more = trio.lowlevel.ParkingLot()
        self._looking = 0
        self._counts = BranchFinderStatistics(0, 0, 0, 0, 0)

    def note_end(self, spec: ProcessSpec) -> None:
        """Have the branch of a chat looked at if a command of it that ended has to do with git."""
        text = spec.command.text
        if not _OF_GIT.search(text):
            return
        before = self._waiting.pop(spec.chat, None)
        if before is None and len(self._waiting) >= WAITING_MAX:
            del self._waiting[next(iter(self._waiting))]
            self._count(dropped=1)
        is_news = bool(_OF_FORGE.search(text)) or (before is not None and before.is_news)
        self._waiting[spec.chat] = EndedCommand(spec.workspace, spec.workdir, is_news)
        self._more.unpark()

    async def run(self) -> NoReturn:
        """Look until cancelled. A look that fails is made again after the chat's next command."""
        async with trio.open_nursery() as nursery:
            for _ in range(LOOKS_AT_ONCE_MAX - 1):
                nursery.start_soon(self._work)
            await self._work()

    def statistics(self) -> BranchFinderStatistics:
        return replace(self._counts, waiting=len(self._waiting), looking=self._looking)

    async def note(self, note: BranchNote) -> bool:
        """Note a branch, at the forge that its origin leads to. Return False if there is no such
        chat, or if this is no branch."""
        origin = plain_origin(note.remote_origin)
        if not origin or not is_branch(note.branch):
            return False
        found = repository_of(origin, self._forges)
        whole = replace(
            note,
            remote_origin=origin,
            host=None if found is None else found.forge.host,
            path=None if found is None else found.path,
        )
        is_noted = await self._store.note(whole)
        self._count(noted=int(is_noted))
        return is_noted

    async def _work(self) -> NoReturn:
        while True:
            while not self._waiting:
                await self._more.park()
            chat = next(iter(self._waiting))
            ended = self._waiting.pop(chat)
            self._looking += 1
            try:
                await self._look(chat, ended)
            except Exception as error:  # noqa: BLE001  the edge of a unit of work
                emit("branch.unread", "warning", chat=chat_name(chat), error=error)
            finally:
                self._looking -= 1

    async def _look(self, chat: ChatId, ended: EndedCommand) -> None:
        self._count(looks=1)
        said = await self._workspaces.ask(
            ended.workspace,
            _LOOK.format(workdir=shlex.quote(ended.workdir)),
            key=("branch", chat),
            seconds=LOOK_SECONDS_MAX,
        )
        branch, _, origin = said.decode(errors="replace").partition("\n")
        if branch and origin:
            note = BranchNote(chat=chat, remote_origin=origin, branch=branch)
            await self.note(replace(note, is_news=ended.is_news))

    def _count(self, **more: int) -> None:
        names = {f"{name}_count": number for name, number in more.items()}
        self._counts = replace(
            self._counts,
            **{name: getattr(self._counts, name) + number for name, number in names.items()},
        )
