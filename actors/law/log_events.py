"""Every log entry of the actors: name, level, fields, and what it means. Pure.

Besides what stands here the kernel writes `child.ended` and `child.restarted`. An entry is written
once, at the end of what it is about: `info` is an end in good order, `warning` something that is
tried again or goes on with less, `error` something that a human must look at.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogEvent:
    """A log entry of the actors."""

    name: str
    level: str
    fields: tuple[str, ...]
    meaning: str


LOG_EVENTS = (
    # chats
    LogEvent(
        "work.failed", "warning", ("chat", "error"), "work on a chat failed, it is begun anew"
    ),
    LogEvent(
        "look.failed",
        "warning",
        ("chat", "error"),
        "a chat could not be read, it is tried until it can",
    ),
    LogEvent(
        "store.unanswered",
        "warning",
        ("chat", "what", "error"),
        "the store did not answer to the work on a chat, it is asked again, up to ten times",
    ),
    LogEvent(
        "answer.paused",
        "warning",
        ("chat", "provider"),
        "a provider paused one answer more often than it is asked to go on, its turn ends there",
    ),
    LogEvent(
        "provider.crashed", "error", ("chat", "provider", "error"), "a bug in an adapter: it raised"
    ),
    LogEvent(
        "tool.crashed", "error", ("chat", "tool", "error"), "a bug in a tool; the model is told"
    ),
    LogEvent("journal.missed", "warning", ("chat", "tool", "error"), "a call's end was not noted"),
    LogEvent("title.missed", "debug", ("chat", "why"), "a chat keeps the title that it has"),
    LogEvent(
        "chat.failing",
        "error",
        ("chat", "attempts"),
        "work on a chat failed so often in a row that the chat was stopped; work.failed says why",
    ),
    LogEvent(
        "chat.deadly",
        "error",
        ("chat", "deaths"),
        "so many processes died in one step of a chat that the chat was stopped",
    ),
    LogEvent(
        "chat.parked", "error", ("chat", "error"), "a broken chat was put into its error state"
    ),
    LogEvent(
        "chat.stuck", "error", ("chat", "error"), "a broken chat cannot even be parked: it is held"
    ),
    LogEvent(
        "chat.orphaned", "warning", ("chat", "runner"), "held here and run by nobody: given back"
    ),
    LogEvent("settling.failed", "warning", ("chat", "error"), "giving back a chat is tried again"),
    # watchers
    LogEvent(
        "feed.unread", "warning", ("chat", "error"), "a watched chat is not read, it is tried again"
    ),
    LogEvent("feed.broken", "error", ("chat", "error"), "a bug in a feed: its watchers are let go"),
    LogEvent("feeds.unasked", "warning", ("chats", "error"), "the poll behind hints is made later"),
    LogEvent("watch.unread", "warning", ("news", "error"), "owners were not told of their chats"),
    LogEvent(
        "watch.broken",
        "error",
        ("owner", "error"),
        "a bug in the feed of an owner's chats: its watchers are let go",
    ),
    LogEvent(
        "listener.broken",
        "error",
        ("error", "ended_by"),
        "a bug in what ends a listener that has failed: it hears no more all the same",
    ),
    LogEvent(
        "piece.unencoded",
        "error",
        ("chat", "error"),
        "a bug in the encoding of a piece: watchers see the beginning, then the message",
    ),
    # what is said in other processes
    LogEvent(
        "relay.unlinked",
        "warning",
        ("worker", "why", "tries"),
        "a process is not reached, it is tried again: watchers here see no words of its chats",
    ),
    LogEvent("relay.broken", "error", ("worker", "error"), "a bug in a link: likewise"),
    LogEvent(
        "relay.serving_broken",
        "error",
        ("error",),
        "a bug in what another process is told of attempts: it is hung up on, and comes again",
    ),
    # the process
    LogEvent("lease.begun", "info", ("worker",), "chats may be taken in this name"),
    LogEvent(
        "lease.failed", "warning", ("what", "attempt", "why"), "a beat failed, it is tried again"
    ),
    LogEvent("lease.expired", "warning", ("worker",), "a beat came too late"),
    LogEvent(
        "lease.lost",
        "warning",
        ("worker", "chats"),
        "all chats were let go before others take them",
    ),
    LogEvent(
        "supervisor.unanswered",
        "warning",
        ("what", "count", "why"),
        "the store did not answer, for the first time or so many times in a row",
    ),
    LogEvent("supervisor.drained", "info", ("seconds", "chats", "cut"), "what ran was given back"),
    LogEvent(
        "housekeeping.delayed", "warning", ("error",), "the store is away, house is kept later"
    ),
    LogEvent("housekeeping.lost", "warning", ("chore",), "another process keeps house by now"),
    LogEvent(
        "housekeeping.failed",
        "warning",
        ("chore", "why"),
        "a batch could not be done, the next pass tries again",
    ),
    LogEvent("housekeeping.done", "info", ("seconds", "did"), "a pass of housekeeping has ended"),
    LogEvent("job.failed", "warning", ("job", "error"), "a background job came to nothing"),
)
