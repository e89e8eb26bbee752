"""Snapshots of workspaces in memory, by their digests: chats of one workspace share one."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated

from actors.prompts.context.resources import Snapshot
from runtime.statistics import GaugeMetric

KEPT_CHARACTERS_MAX = 64 * 1024 * 1024  # of their texts; at the bound the one used longest ago goes


@dataclass(frozen=True, slots=True)
class SnapshotsStatistics:
    kept: Annotated[
        int, GaugeMetric("Snapshots of context files that are kept in memory.", name="")
    ]
    kept_characters: Annotated[
        int, GaugeMetric("Characters of context files that are kept in memory.", name="characters")
    ]


class Snapshots:
    def __init__(self, *, kept_characters_max: int = KEPT_CHARACTERS_MAX) -> None:
        self._most = kept_characters_max
        self._kept: OrderedDict[bytes, Snapshot] = OrderedDict()  # the one used last is last
        self._characters = 0

    def get(self, digest: bytes) -> Snapshot | None:
        if digest in self._kept:
            self._kept.move_to_end(digest)
        return self._kept.get(digest)

    def put(self, digest: bytes, snapshot: Snapshot) -> None:
        if digest in self._kept:
            return
        self._kept[digest] = snapshot
        self._characters += snapshot.characters
        while self._characters > self._most and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            self._characters -= gone.characters

    def statistics(self) -> SnapshotsStatistics:
        return SnapshotsStatistics(len(self._kept), self._characters)
