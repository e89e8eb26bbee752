"""What one peer follows here: cursors into the episodes of this process.

Nothing is kept for him: a piece lies in its episode, and a peer that is slow gets more at once when
he comes back. Whoever adds a piece only notes that there is something to read, so neither a slow
peer nor a dead one holds up a chat. If that note fails, this peer is hung up on, and comes again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import trio

from actors.law.ids import EpisodeKey
from actors.streams.episodes.buffer import Episode, Episodes
from actors.streams.relay.frames import (
    BATCH_BYTES_MAX,
    BATCH_PIECES_MAX,
    FOLLOWS_MAX,
    Ended,
    Follow,
    News,
    Pieces,
    Stands,
    TooMany,
    Unfollow,
    Wish,
)
from runtime.log import emit

ANSWERS_MAX = 2 * FOLLOWS_MAX  # that he has not taken; whoever asks on is hung up on


@dataclass(eq=False, slots=True)
class _Place:
    """Where somebody reads. Without an episode it has not begun, or was forgotten.

    Fulfils `actors.streams.episodes.listeners.EpisodeFollower`.
    """

    serving: "Serving"
    number: int
    key: EpisodeKey
    seq: int
    episode: Episode | None = None

    def note(self) -> None:
        self.serving.note(self.number)

    def fail(self, error: Exception) -> None:
        self.serving.fail(error)


class Serving:
    """`wish` and `began` never wait; `due` and then `take` is what is sent."""

    def __init__(self, episodes: Episodes) -> None:
        self.pieces_count = 0
        self._episodes = episodes
        self._places: dict[int, _Place] = {}
        self._awaited: dict[EpisodeKey, int] = {}  # not begun
        self._answers: list[News] = []
        self._due: dict[int, None] = {}  # in the order in which something came
        self._news = trio.Event()
        self._is_closed = False
        self.has_failed = False

    @property
    def follows(self) -> int:
        return len(self._places)

    def wish(self, wish: Wish) -> bool:
        """False: whoever asks so has lost count, or does not listen to what he is told."""
        if self._is_closed or len(self._answers) >= ANSWERS_MAX:
            return False
        match wish:
            case Follow():
                return self._follow(wish)
            case Unfollow(number=number):
                self._drop(number)
                return True

    def began(self, episode: Episode) -> None:
        """Hears of every attempt that begins here."""
        number = self._awaited.pop(episode.key, None)
        if number is not None:
            self._read(number, self._places[number], episode)

    def note(self, number: int) -> None:
        """There is something to send of this attempt."""
        self._due[number] = None
        self._news.set()

    def fail(self, error: Exception) -> None:
        """End it because of an error in the task of a chat: the peer is to be hung up on, and comes
        again for what it has not got."""
        emit("relay.serving_broken", "error", error=error)
        self.has_failed = True
        self.close()
        self._news.set()

    async def due(self) -> None:
        """Wait until there is something to send, or until this has failed."""
        if not (self._due or self._answers or self.has_failed):
            self._news = trio.Event()
            await self._news.wait()

    def take(self) -> Sequence[News]:
        """As much of it as goes into one message; each attempt in its turn."""
        news, self._answers = self._answers[:FOLLOWS_MAX], self._answers[FOLLOWS_MAX:]
        room = BATCH_BYTES_MAX
        for number in list(self._due):
            del self._due[number]
            place = self._places[number]
            room -= self._take_from(number, place, room, news)
            if room <= 0:
                break
        return news

    def close(self) -> None:
        """Nothing is followed any more, and nothing will be."""
        self._is_closed = True
        for number in list(self._places):
            self._drop(number)

    def _follow(self, wish: Follow) -> bool:
        number, key = wish.number, wish.key
        if number in self._places or key in self._awaited:
            return False
        if len(self._places) >= FOLLOWS_MAX:
            self._answer(TooMany(number))
            return True
        place = self._places[number] = _Place(self, number, key, wish.seq)
        episode = self._episodes.find(key)
        if episode is None:
            self._awaited[key] = number
            self._answer(Stands(number, 0))
        else:
            self._answer(Stands(number, len(episode.encoded)))
            self._read(number, place, episode)
        return True

    def _read(self, number: int, place: _Place, episode: Episode) -> None:
        place.episode = episode
        episode.follow(place)
        self.note(number)

    def _answer(self, news: News) -> None:
        self._answers.append(news)
        self._news.set()

    def _take_from(self, number: int, place: _Place, room: int, news: list[News]) -> int:
        """How many bytes that were."""
        episode = place.episode
        assert episode is not None, "what is due has begun"
        pieces, size = _fitting(episode.encoded, place.seq, room)
        if pieces:
            news.append(Pieces(number, place.seq, pieces))
            place.seq += len(pieces)
            self.pieces_count += len(pieces)
        if place.seq < len(episode.encoded):
            self._due[number] = None
        elif episode.closed_at is not None:
            news.append(Ended(number))
            self._drop(number)
        return size

    def _drop(self, number: int) -> None:
        place = self._places.pop(number, None)
        if place is None:
            return  # it has ended meanwhile
        self._due.pop(number, None)
        if place.episode is None:
            self._awaited.pop(place.key, None)
        else:
            place.episode.unfollow(place)


def _fitting(encoded: Sequence[bytes], begin: int, room: int) -> tuple[Sequence[bytes], int]:
    """The next pieces: at least one, however large it is; and their size."""
    size, end = 0, begin
    last = min(len(encoded), begin + BATCH_PIECES_MAX)
    while end < last and (end == begin or size + len(encoded[end]) <= room):
        size += len(encoded[end])
        end += 1
    return encoded[begin:end], size
