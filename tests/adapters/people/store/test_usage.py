"""Use of tokens is noted now and then, and its faults trouble nobody."""

import trio

from adapters.people.store import tokens as bounds
from adapters.people.store.tokens import NOTE_SECONDS, TokenUseNotes
from adapters.postgres.driver.faults import DatabaseGone


class Notes:
    """Where use is noted; it may be away."""

    def __init__(self):
        self.noted, self.fault = [], None

    async def note_use(self, ids):
        if self.fault is not None:
            raise self.fault
        self.noted.append((trio.current_time(), sorted(ids)))


async def test_what_is_used_often_is_noted_once_a_minute(autojump_clock):
    notes = Notes()
    usage, began = TokenUseNotes(notes), trio.current_time()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(usage.run)
        for second in range(150):
            usage.note("a" if second < 100 else "b")
            await trio.sleep(1)
        nursery.cancel_scope.cancel()

    assert [(60, ["a"]), (120, ["a", "b"])] == [(round(at - began), ids) for at, ids in notes.noted]


async def test_nothing_is_written_where_nothing_was_used(autojump_clock):
    notes = Notes()

    with trio.move_on_after(60 * NOTE_SECONDS + 1):
        await TokenUseNotes(notes).run()

    assert [] == notes.noted


async def test_a_database_that_is_away_stops_nobody(autojump_clock):
    notes = Notes()
    notes.fault = DatabaseGone("postgres: away")
    usage = TokenUseNotes(notes)
    usage.note("a")

    with trio.move_on_after(60 * NOTE_SECONDS + 1):
        await usage.run()
    notes.fault = None
    usage.note("b")
    await usage.write()

    assert [["b"]] == [ids for _, ids in notes.noted]


async def test_only_so_many_are_noted_at_once(autojump_clock, monkeypatch):
    monkeypatch.setattr(bounds, "NOTED_MAX", 2)
    notes = Notes()
    usage = TokenUseNotes(notes)
    for token in ("a", "b", "c"):
        usage.note(token)

    await usage.write()

    assert [["a", "b"]] == [ids for _, ids in notes.noted]
