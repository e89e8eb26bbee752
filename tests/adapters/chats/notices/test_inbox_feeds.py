"""Each stream of a user gets each notice, also if several streams begin at different moments."""

from datetime import UTC, datetime
from uuid import uuid4

import trio

from actors.law.store.hints import InboxChanged
from adapters.chats.notices.inbox_feeds import InboxFeeds
from adapters.chats.notices.wording import NoticeRow
from tests.actors.law.chats import ANN
from tests.patience import PATIENCE_SECONDS


class Inbox:
    """An inbox in memory: its notices, the newest first."""

    def __init__(self):
        self.rows = []

    def file(self):
        row = NoticeRow(uuid4(), ANN, "ended", None, None, b"{}", datetime.now(UTC), None)
        self.rows.insert(0, row)
        return row

    @property
    def ids(self):
        return [row.id for row in self.rows]

    async def news(self, user):
        await trio.lowlevel.checkpoint()
        return tuple(self.rows), len(self.rows)


async def told(watcher):
    with trio.fail_after(PATIENCE_SECONDS):
        row, _ = await watcher.next()
    return row


async def test_each_stream_is_told_what_came_after_the_notices_that_it_knows(nursery):
    inbox = Inbox()
    feeds = InboxFeeds(inbox)
    nursery.start_soon(feeds.run)
    inbox.file()
    known_by_both = inbox.ids
    with feeds.watching(ANN, known_by_both) as first:
        new = inbox.file()
        feeds.note_news(InboxChanged(ANN))
        assert new == await told(first)

        # The second one has read the inbox before that, and is only now there.
        with feeds.watching(ANN, known_by_both) as second:
            assert new == await told(second)

            newest = inbox.file()
            feeds.note_news(InboxChanged(ANN))
            assert [newest, newest] == [await told(first), await told(second)]
    nursery.cancel_scope.cancel()
