"""A client without an API: it changes chats in the store, tells of it, and looks at what becomes
of them, as the API of another process would.
"""

import contextlib
import json
import uuid
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trio

from actors.law.chat import Body, Role, StoredChat, UserMessage
from actors.law.ids import ChatId, UserId
from actors.law.parts.message import TextPart
from actors.law.requests import CreateChat, NewChat, SendMessage
from actors.law.store.hints import ChatMoved, News
from actors.law.store.ports import Applied
from adapters.postgres.committing import Committer
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.driver.pool import Pool
from adapters.postgres.hints import Hints
from adapters.postgres.ledger import PostgresLedger
from adapters.postgres.reading import Reading
from tests.e2e.processes import EVENTUALLY_SECONDS

LOOK_SECONDS = 0.02
# A retry state lasts a second or two, and who looks now and then may miss it on a busy machine.
NOTES_RETRIES = (
    "CREATE TABLE IF NOT EXISTS noted_retries"
    " (number bigserial, chat uuid, status text, retry_state json)",
    """
    CREATE OR REPLACE FUNCTION note_retry() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO noted_retries (chat, status, retry_state)
        VALUES (NEW.id, NEW.status, NEW.retry_state);
        RETURN NULL;
    END $$
    """,
    """
    CREATE OR REPLACE TRIGGER note_retry AFTER UPDATE ON chats FOR EACH ROW
    WHEN (NEW.retry_state IS NOT NULL
          AND NEW.retry_state_version <> OLD.retry_state_version)
    EXECUTE FUNCTION note_retry()
    """,
)
AT_REST = ("waiting", "error")


@dataclass
class Client:
    user: UserId
    pool: Pool
    ledger: PostgresLedger
    reading: Reading
    heard: list[News] = field(default_factory=list)  # from the daemons

    async def create(self, text="hello", *, model=None, **new):
        """A chat of ours in which this has been said."""
        chat = NewChat(ChatId(uuid.uuid4()), self.user, **new)
        said = Body(Role.USER, (TextPart(text),), created_by=self.user, model_config_id=model)
        applied = await self.ledger.create(CreateChat(chat, (said,)))
        assert isinstance(applied, Applied), applied
        return chat.id

    async def ask(self, chat, *requests):
        answer = await self.ledger.apply(chat, requests)
        assert isinstance(answer, Applied), answer
        return answer

    async def send(self, chat, text, **busy):
        return await self.ask(chat, SendMessage(self.says(text), **busy))

    def says(self, text):
        return UserMessage((TextPart(text),), self.user)

    async def view(self, chat):
        stored = await self.reading.view(chat)
        assert isinstance(stored, StoredChat), stored
        return stored

    async def until(self, chat, *statuses, seconds=EVENTUALLY_SECONDS):
        """Wait until the chat is in one of these; what is stored then."""
        return await self.until_true(chat, lambda stored: status(stored) in statuses, seconds)

    async def until_true(self, chat, check, seconds=EVENTUALLY_SECONDS):
        stored = None
        with trio.move_on_after(seconds):
            while True:
                with contextlib.suppress(DatabaseFault):  # a story may be about that
                    stored = await self.view(chat)
                    if check(stored):
                        return stored
                await trio.sleep(LOOK_SECONDS)
        raise AssertionError(f"not within {seconds:g} s; the chat is {stored}")

    async def history(self, chat):
        with trio.fail_after(EVENTUALLY_SECONDS):
            while True:
                with contextlib.suppress(DatabaseFault):  # a story may be about that
                    return await self.reading.history(chat)
                await trio.sleep(LOOK_SECONDS)

    async def said(self, chat):
        """(role, its text) of every message that stands."""
        return [(m.body.role.value, text_of(m.body)) for m in await self.history(chat)]

    async def answer(self, chat, *, seconds=EVENTUALLY_SECONDS):
        """What the model said last, once the chat is waiting."""
        stored = await self.until(chat, *AT_REST, seconds=seconds)
        assert "waiting" == status(stored), stored.chat.last_error
        [*_, (role, text)] = await self.said(chat)
        assert "assistant" == role
        return text

    async def title(self, chat):
        async with self.pool.connection() as connection:
            [(title,)] = await connection.execute(
                "SELECT title FROM chats WHERE id = %(chat)s", {"chat": chat}
            )
        return title

    async def note_retries(self):
        """Keep every retry state that a chat has from now on, for `retries`."""
        async with self.pool.connection() as connection:
            await connection.run([(statement, ()) for statement in NOTES_RETRIES])

    async def retries(self, chat):
        """Every retry state that the chat has had, as its row kept it, those that are over too."""
        async with self.pool.connection() as connection:
            rows = await connection.execute(
                "SELECT status, retry_state::text FROM noted_retries WHERE chat = %(chat)s"
                " ORDER BY number",
                {"chat": chat},
            )
        return [{"status": status, **json.loads(state)} for status, state in rows]

    async def write_past_the_law(self, chat, content):
        """Put this into the last answer of the chat, as no program of ours would."""
        async with self.pool.connection() as connection:
            await connection.run(
                [
                    ("SET session_replication_role = replica", ()),  # the guards look away
                    (
                        "UPDATE messages SET content = %(content)s WHERE id = (SELECT max(id)"
                        " FROM messages WHERE chat_id = %(chat)s AND role = 'assistant')",
                        {"chat": chat, "content": content},
                    ),
                    ("RESET session_replication_role", ()),
                ]
            )

    async def until_held_by(self, count, *chats):
        """Wait until so many processes have been seen holding one of these; True: no more have."""
        with trio.move_on_after(EVENTUALLY_SECONDS):
            while len(self._workers_of(chats)) < count:
                await trio.sleep(LOOK_SECONDS)
        return count == len(self._workers_of(chats))

    def _workers_of(self, chats):
        moves = [news for news in self.heard if isinstance(news, ChatMoved)]
        return {move.worker_id for move in moves if move.chat in chats and move.worker_id}


def status(stored):
    return stored.chat.status.value


def text_of(body):
    return "".join(part.text for part in body.parts if isinstance(part, TextPart))


@asynccontextmanager
async def a_client(conninfo):
    """On a database whose schema is there."""
    pool = Pool(conninfo, size=4)
    heard = []
    hints = Hints(pool, conninfo, heard=heard.append)
    committer = Committer(pool, tell=hints.tell)  # of a client that holds nothing: never used
    ledger = PostgresLedger(pool, committer, tell=hints.tell, lease_seconds=30)
    user = UserId(uuid.uuid4())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hints.run)
        async with pool.connection() as connection:
            await connection.execute(
                "INSERT INTO users (id, username) VALUES (%(id)s, %(id)s::uuid::text)", {"id": user}
            )
        yield Client(user, pool, ledger, Reading(pool, lease_seconds=30), heard)
        nursery.cancel_scope.cancel()
    await pool.drain(1.0)
