"""Who comes to a feed: what he has, where the log stands for him, and what he is told first."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import trio

from actors.streams.subscribers.diff import Have
from actors.streams.subscribers.log import Pack, batch_length
from actors.streams.subscribers.ports import Attempt


@dataclass(frozen=True, slots=True)
class Mark:
    """Where the log stands when a snapshot has been told."""

    snapshot_version: int
    position: int
    attempt: Attempt | None
    told: int  # pieces of it


@dataclass(eq=False, slots=True)
class Beginning:
    """What whoever comes is told first; alike for all who come at once with the same."""

    events: Sequence[bytes]
    position: int  # where he reads on
    _frames: dict[Pack, list[bytes]] = field(default_factory=dict)

    def frames(self, pack: Pack) -> list[bytes]:
        frames = self._frames.get(pack)
        if frames is None:
            frames = self._frames[pack] = []
            begin = 0
            while begin < len(self.events):
                end = begin + batch_length(self.events, begin)
                frames.append(pack(self.events[begin:end]))
                begin = end
        return frames


@dataclass(eq=False, slots=True)
class Join:
    """Somebody who comes: he holds the log from `mark` on until he knows where he begins."""

    have: Have
    mark: Mark | None  # None: nothing was known when he came
    answered: trio.Event = field(default_factory=trio.Event)
    beginning: Beginning | None = None  # None when answered: the feed has ended


def common_to(haves: Sequence[Have]) -> Have:
    """Return what all of those have who want to know."""
    return Have(
        min((have.message_id for have in haves), default=0),
        min((have.history_version for have in haves), default=0),
    )
