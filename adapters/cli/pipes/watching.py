"""A chat that others talk to, followed until it rests or ctrl-C. Nothing of it is changed.

A connection that breaks is made again, and nothing is lost or told twice; a daemon that is away for
longer than the client tries (about four minutes) ends the command.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from uuid import UUID

from adapters.cli.pipes.ending import end_of
from adapters.cli.pipes.outcomes import PipeEnd, end_of_rest
from adapters.cli.pipes.printing import RecordPrinter
from adapters.cli.pipes.records import BeginRecord, RecordMaker, end_record
from promptcorner_client import api
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.transcript import Transcript
from runtime.clock import now


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """The chat that is followed, from where, and until when."""

    chat: UUID
    after_id: int | None = None  # messages up to this one are known; None: all that stand now
    until_idle: bool = False


async def watch(client: AsyncClient, request: WatchRequest, printer: RecordPrinter) -> PipeEnd:
    """Print what happens in a chat, and its end; return it. OSError: the output is closed."""
    began = now()
    end = await end_of(lambda: _follow(client, request, printer), _first_of)
    record = end_record(
        end,
        chat=request.chat,
        input_tokens=0,
        output_tokens=0,
        cost_micros=None,
        seconds=now() - began,
    )
    printer.show(record)
    return end


async def _first_of(signals: AsyncIterator[int]) -> None:
    await anext(signals)


async def _follow(client: AsyncClient, request: WatchRequest, printer: RecordPrinter) -> PipeEnd:
    after_id, history_version = request.after_id, 0
    if after_id is None:
        latest = await client.request(api.messages(request.chat, limit=1))
        after_id = max((message.id for message in latest.messages), default=0)
        history_version = latest.history_version or 0
    printer.show(BeginRecord(chat_id=request.chat, is_new=False, message_id=None))
    maker, seen, was_interrupted = RecordMaker(), Transcript(), False
    stream = client.follow(request.chat, after_id=after_id, history_version=history_version)
    async with stream as events:
        async for event in events:
            seen.apply(event)
            for record in maker.records_of(event):
                printer.show(record)
            was_interrupted = was_interrupted or seen.status == "interrupting"
            if request.until_idle and (seen.rests_since() or seen.approvals):
                break
    chat = await client.request(api.get_chat(request.chat))
    return end_of_rest(seen, chat, was_interrupted=was_interrupted)
