"""The two stores that fulfil one contract, each with the world around it that a test may arrange.

A world has a store (`ledger`, `leases`, `reading`), the hints it has told, and what no port offers:
users and files, time that passes, writes past the law, and all rows, to be compared.
"""

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

import msgspec

from actors.ids import Holder
from actors.machine.chat import Chat, Message, Queued
from actors.machine.requests import DynamicTool, NewChat
from actors.machine.states import Status
from adapters.postgres import rows
from adapters.postgres.parts import unescaped
from tests.actors.machine.chats import ANN, BOB
from tests.adapters.postgres.stores import Telling, open_store
from tests.fakes.store import MemoryStore


@dataclass(frozen=True)
class Rows:
    """Everything that is stored of one chat, in our words."""

    new: NewChat
    chat: Chat
    times: tuple  # created_at, updated_at
    messages: tuple[Message, ...]  # deleted ones too
    queue: tuple[Queued, ...]
    files: frozenset


class MemoryWorld:
    def __init__(self):
        self.telling = Telling()
        self.store = MemoryStore(tell=self.telling)
        self.ledger = self.leases = self.reading = self.store

    @property
    def told(self):
        return self.telling.told

    async def add_files(self, *ids):
        self.store.files |= set(ids)

    async def pass_time(self, seconds):
        self.store.clock.now += timedelta(seconds=seconds)

    async def write_past_the_law(self, chat, **columns):
        kept = self.store.chats[chat]
        kept.chat = replace(kept.chat, **columns)

    async def workers(self):
        return set(self.store.workers)

    async def rows(self, chat):
        kept = self.store.chats.get(chat)
        return kept and Rows(
            kept.new,
            kept.chat,
            (kept.created_at, kept.updated_at),
            tuple(kept.messages),
            kept.queue,
            kept.files,
        )


class PostgresWorld:
    def __init__(self, store):
        self.store = store
        self.ledger, self.leases, self.reading = store.ledger, store.leases, store.reading
        self.telling = store.telling

    @property
    def told(self):
        return self.telling.told

    async def add_files(self, *ids):
        await self.store.add_files(*ids)

    async def pass_time(self, seconds):
        """The database's clock cannot be set, so what it has written grows older."""
        await self.store.execute(
            "UPDATE workers SET heartbeat_at = heartbeat_at - %(s)s * interval '1 second'",
            s=seconds,
        )

    async def write_past_the_law(self, chat, **columns):
        if isinstance(columns.get("holder"), Holder):
            holder = columns.pop("holder")
            columns |= {"worker_id": holder.worker, "runner_id": holder.runner}
        columns = {k: v.value if isinstance(v, Status) else v for k, v in columns.items()}
        columns = {k: str(v).lower() if isinstance(v, bool) else v for k, v in columns.items()}
        settings = ", ".join(f"{name} = %({name})s" for name in columns)
        await self.store.execute(
            f"UPDATE chats SET {settings} WHERE id = %(id)s", id=chat, **columns
        )

    async def workers(self):
        return {id for (id,) in await self.store.execute("SELECT id FROM workers")}

    async def rows(self, chat):
        ask = self.store.execute
        found = await ask(f"SELECT {_CHAT} FROM chats WHERE id = %(chat)s", chat=chat)
        if not found:
            return None
        [(created_at, updated_at, *columns)] = found
        new, row = columns[: len(_NEW)], columns[len(_NEW) :]
        messages = await ask(f"SELECT {_MESSAGE} WHERE chat_id = %(chat)s ORDER BY id", chat=chat)
        queue = await ask(
            f"SELECT {_QUEUED} WHERE chat_id = %(chat)s ORDER BY position, id", chat=chat
        )
        files = await ask("SELECT file_id FROM chat_files WHERE chat_id = %(chat)s", chat=chat)
        return Rows(
            _new_chat(new),
            rows.chat_of(row).chat,
            (created_at, updated_at),
            tuple(map(rows.message_of, messages)),
            tuple(map(rows.queued_of, queue)),
            frozenset(file for (file,) in files),
        )


_NEW = [
    "id",
    "owner_id",
    "title",
    "parent_id",
    "root_id",
    "client_type",
    "plan_mode",
    "labels",
    "mcp_server_ids",
    "dynamic_tools",
    "dynamic_tool_names",
]
_CHAT = (
    f"created_at, updated_at, {', '.join(_NEW)}, id, owner_id, parent_id, status, archived,"
    " worker_id, runner_id, last_error, retry_state, requires_action_deadline_at,"
    " compaction_requested_at, snapshot_version, history_version, queue_version,"
    " retry_state_version, generation_attempt, pin_order, last_model_config_id,"
    " last_reasoning_effort, dynamic_tool_names, now(), holder_version, false"
)
_MESSAGE = (
    "id, revision, created_at, deleted, role, content, content_version, visibility, compressed,"
    " created_by, model_config_id, reasoning_effort, context_limit, runtime_ms, input_tokens,"
    " output_tokens, total_tokens, reasoning_tokens, cache_creation_tokens, cache_read_tokens"
    " FROM messages"
)
_QUEUED = (
    "id, position, steers, content, content_version, created_by, model_config_id,"
    " reasoning_effort FROM queued_messages"
)


def _new_chat(columns):
    found = dict(zip(_NEW, columns, strict=True))
    tools = msgspec.json.decode(unescaped(found.pop("dynamic_tools")), type=tuple[DynamicTool, ...])
    assert found.pop("dynamic_tool_names") == [tool.name for tool in tools]
    labels = msgspec.json.decode(found.pop("labels"))
    servers = tuple(found.pop("mcp_server_ids"))
    return NewChat(**found, labels=labels, mcp_server_ids=servers, dynamic_tools=tools)


@asynccontextmanager
async def postgres_world(conninfo):
    async with open_store(conninfo) as store:
        await store.add_users(ANN, BOB)
        yield PostgresWorld(store)
