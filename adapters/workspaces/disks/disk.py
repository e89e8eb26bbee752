"""The disk of one workspace, reached through threads of its own.

A disk that hangs, of a network for instance, blocks the threads of its workspace and no others;
callers that come then are told so after a moment. A read is given up with its caller. A write is
waited for a moment longer, so that it is not left half done; if it is left all the same, it goes
on to its end, and nothing of this workspace is read or written before that.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from runtime.threads import work as threads
from runtime.threads.limits import ThreadLimits, ThreadsBlocked

# One that hangs holds `per_key_max` threads, until it answers.
FILES = ThreadLimits("workspace_files", 256, per_key_max=4, wait_seconds=5.0, answer_seconds=30.0)
MAKING = ThreadLimits("workspace_making", 64, per_key_max=2, wait_seconds=5.0, answer_seconds=600.0)
WRITE_SECONDS = 2.0  # that a write is waited for when its caller has been told to stop

Result = TypeVar("Result")


class DiskSilent(Exception):
    """The disk does not answer; in words for models and people."""


@dataclass(frozen=True, slots=True)
class Disk:
    """Where a directory lies. `name`: what it is called when it does not answer."""

    directory: str
    name: str

    async def read(self, work: Callable[[], Result], kind: ThreadLimits = FILES) -> Result:
        """Look at something. A caller that is cancelled leaves at once. DiskSilent: no answer."""
        try:
            return await threads.read(kind, work, key=self.directory)
        except ThreadsBlocked as blocked:
            raise DiskSilent(
                f"the disk of {self.name} does not answer; try again later"
            ) from blocked

    async def write(
        self,
        work: Callable[[], Result],
        kind: ThreadLimits = FILES,
        *,
        seconds: float = WRITE_SECONDS,
    ) -> Result:
        """Change something, which is waited for. DiskSilent: no answer, and what was begun may
        still be done."""
        try:
            return await threads.write(kind, work, key=self.directory, grace_seconds=seconds)
        except ThreadsBlocked as blocked:
            raise DiskSilent(
                f"the disk of {self.name} does not answer; what was to be written may be written"
                " later: look before you try again"
            ) from blocked
