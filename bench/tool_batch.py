"""What do fifty tool calls of one step cost that run at the same time?

On paper: the journal notes in one statement that they begin (2 ms: its log is flushed), they run,
each takes its time, and as each ends the journal notes what came of it. Where all of them end at
the same moment that is fifty notes in a few groups (3 ms); then their results are put in order. So
the step takes as long as its slowest call, and some milliseconds.

The calls sleep; journal and database are the real ones. The floor is the same calls with nobody who
notes anything, in turn with ours: what the machine takes for fifty tasks that sleep 100 ms.
"""

import json
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import trio

from actors.chat.turn.deps import TurnDeps
from actors.chat.turn.ports import NO_TELEMETRY, LocalTool, OfferedTools, ToolInvocation, ToolOutput
from actors.chat.turn.tool_batch import run_batch
from actors.chat.turn.work import AtStake, Attempt
from actors.law.chat import Chat
from actors.law.ids import EpisodeKey
from actors.law.parts.message import JsonText, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import ToolDefinition
from actors.law.store.ports import Applied
from actors.streams.previews import Previews
from adapters.chats.streams.events import encode_piece
from adapters.postgres.committing import Committer
from adapters.postgres.driver.pool import Pool
from adapters.postgres.journal import Journal
from adapters.postgres.ledger import PostgresLedger
from bench.fixtures import a_database, a_user, hello
from bench.report import Target

QUESTION = "what do fifty tool calls of one step cost that run at the same time?"
CALLS = 50
TARGETS = (
    Target("at_once_ms_over", f"{CALLS} calls of 100 ms: ms beyond 1.2 x the floor", at_most=10),
    Target("spread_ms_over", "calls of 2 to 100 ms: ms beyond 1.2 x the floor", at_most=10),
)
SLOWEST_SECONDS = 0.1
ROUNDS = 20  # of each; the median counts, and the worst is told
POOL_SIZE = 24  # as a daemon has it
SAYS = ToolOutput(JsonText('{"output":"' + "line of a result\\n" * 60 + '"}'))  # 1 KB
ALL_THE_SAME = [SLOWEST_SECONDS] * CALLS
SPREAD = [SLOWEST_SECONDS * (n + 1) / CALLS for n in range(CALLS)]


class Sleeping:
    """Fulfils `actors.chat.turn.ports.Toolset`: a call sleeps for as long as it says."""

    offered = OfferedTools((LocalTool(ToolDefinition("sleep", "", JsonText("{}")), 60.0),))

    async def run(self, calling: ToolInvocation) -> ToolOutput:
        await trio.sleep(json.loads(calling.call.args or "{}")["seconds"])
        return SAYS


class Forgetting:
    """A journal in which nothing is written."""

    async def begin(self, *_: object) -> tuple[()]:
        return ()

    async def end(self, *_: object) -> None:
        pass


async def _batch(chat: Chat, journal: object, seconds: Sequence[float]) -> float:
    """Return how many seconds the batch takes."""
    calls = tuple(
        ToolCallPart(f"call-{n}", "sleep", JsonText(f'{{"seconds":{each}}}'))
        for n, each in enumerate(seconds)
    )
    attempt = Attempt(EpisodeKey(chat.id, chat.history_version, 1))
    preview = Previews(encode_piece).begin(attempt.key, attempt)
    deps = cast("TurnDeps", SimpleNamespace(journal=journal, telemetry=NO_TELEMETRY))
    began = time.monotonic()
    rows = await run_batch(chat, (), calls, Sleeping(), attempt, deps, AtStake(), show=preview.add)
    results = [part for row in rows for part in row.parts if isinstance(part, ToolResultPart)]
    assert len(seconds) == len([result for result in results if not result.is_error])
    return time.monotonic() - began


async def _measured() -> dict[str, float]:
    async with a_database() as cluster:
        pool = Pool(cluster.conninfo, size=POOL_SIZE)
        user = await a_user(pool)
        nobody = Committer(pool, tell=lambda _: None)
        ledger = PostgresLedger(pool, nobody, tell=lambda _: None, lease_seconds=30)
        journal, figures = Journal(pool), dict[str, float]()
        for name, seconds in {"at_once": ALL_THE_SAME, "spread": SPREAD}.items():
            found: dict[str, list[float]] = {"floor": [], "ours": []}
            for _ in range(ROUNDS):
                made = await ledger.create(hello(user))
                assert isinstance(made, Applied)
                found["floor"].append(await _batch(made.chat, Forgetting(), seconds))
                found["ours"].append(await _batch(made.chat, journal, seconds))
            ours, floor = (sorted(found[way])[ROUNDS // 2] for way in ("ours", "floor"))
            figures[f"{name}_ms_over"] = (ours - 1.2 * floor) * 1e3
            figures[f"{name}_ms"] = ours * 1e3
            figures[f"{name}_floor_ms"] = floor * 1e3
            figures[f"{name}_worst_ms"] = max(found["ours"]) * 1e3
        await pool.drain(1)
        return figures


def measure() -> dict[str, float]:
    return trio.run(_measured)
