"""What automatic titles ask of the world."""

from collections.abc import Set
from typing import Protocol

from actors.law.ids import ChatId, FileId
from actors.prompts.files import Files


class TitleStore(Protocol):
    """A title stands beside the law: no version moves with it, nor the time of the last change."""

    async def is_called(self, chat: ChatId, title: str) -> bool:
        """Whether this is its title now."""
        ...

    async def rename(self, chat: ChatId, title: str, *, was: str) -> bool:
        """Call it `title`, unless it is not called `was` any more; whether that was done.
        Watchers are told."""
        ...


class TitleFileReader(Protocol):
    async def read(self, wanted: Set[FileId]) -> Files:
        """Those that are there."""
        ...
