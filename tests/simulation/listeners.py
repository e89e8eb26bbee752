"""Listeners to attempts, as feeds and links of the relay are. They raise now and then: that ends
the one that raised, which comes again like a watcher does, and the turn never knows of it.
"""

from contextlib import contextmanager

import trio

COMES_AGAIN_SECONDS = 0.2
RAISES = 0.02  # of all calls


class Slip(TypeError):
    """A bug in the code of a listener."""


class FailedAssertion(AssertionError):
    """Another one, which would take a chat for broken if it came out there."""


LISTENER_ERRORS = (Slip, FailedAssertion)


@contextmanager
def listening_to(process):
    """Listen to every attempt of the process, as long as the block runs."""
    feed = Feed(process)
    process.feeds.append(feed)
    with process.previews.follow(feed.began, fail=feed.has_failed):
        yield


class Feed:
    """Reads all attempts of one process by cursors, and hears the pieces of each as they come."""

    def __init__(self, process):
        self.process = process
        self.readers = {}  # episode: the reader that reads it now
        self.hearers = []
        self._missed = []  # attempts whose beginning it was told of, and raised

    def began(self, episode):
        self.readers[episode] = None
        self.maybe_raise("an attempt begins")
        self._listen(episode)

    def has_failed(self, error):
        [missed] = [episode for episode, reader in self.readers.items() if reader is None]
        self._listen(missed)

    def _listen(self, episode):
        hearer = episode.listener = Hearer(self, episode)
        self.hearers.append(hearer)
        self.follow(episode)

    def follow(self, episode):
        reader = self.readers[episode] = Reader(self, episode)
        episode.follow(reader)
        return reader

    def maybe_raise(self, when):
        world = self.process.world
        if not world.is_calm and world.chance(RAISES):
            kind = world.rng.choice(LISTENER_ERRORS)
            world.note(self.process.name, "a listener raises", kind.__name__, "as", when)
            raise kind(when)


class Hearer:
    """Fulfils `actors.streams.previews.PieceListener`."""

    def __init__(self, feed, episode):
        self.episode = episode
        self.heard = []
        self.has_failed = False
        self._feed = feed

    def hear(self, piece, alone):
        if self.has_failed:
            self._feed.process.world.blame("a listener that has failed is called again")
        self._feed.maybe_raise("a piece is heard")
        self.heard.append(piece)

    def fail(self, error):
        self.has_failed = True
        self._feed.maybe_raise("it is told that it has failed")


class Reader:
    """Fulfils `actors.streams.previews.PreviewFollower`."""

    def __init__(self, feed, episode):
        self.read = []
        self._feed = feed
        self._episode = episode
        self._has_failed = False

    def note(self):
        if self._has_failed:
            self._feed.process.world.blame("a follower that has failed is called again")
        self._feed.maybe_raise("there is more to read")
        self.read += self._episode.encoded[len(self.read) :]

    def fail(self, error):
        self._has_failed = True
        self._feed.process.nursery.start_soon(self._come_again)

    async def _come_again(self):
        await trio.sleep(COMES_AGAIN_SECONDS)
        reader = self._feed.follow(self._episode)
        reader.read += self._episode.encoded


def faults(world):
    """Yield what listeners missed that did not fail, or that came again.

    In a process that has stopped not all of them could come again.
    """
    for process in world.processes:
        if process.is_dead:
            continue
        for feed in process.feeds:
            for episode, reader in feed.readers.items():
                if reader.read != episode.encoded and not process.is_gone:
                    yield f"{episode.key}: {len(reader.read)} of {len(episode.encoded)} pieces read"
            for hearer in feed.hearers:
                if not hearer.has_failed and hearer.heard != hearer.episode.encoded:
                    yield f"{hearer.episode.key}: heard {len(hearer.heard)} pieces"
