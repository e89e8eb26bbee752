"""One chat, kept twice: by the law and a book of rows, and by a plain program. Asked at random.

Whatever is asked is asked of both, and the answers compared; `holds` says what has to hold after
each step. All choices come from `draw`: Hypothesis' own, or one of `requests.drawing`.
"""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

from hypothesis import strategies as st

from actors.law import requests as ask
from actors.law.change import Change
from actors.law.chat import Approval, KnownFiles, QueuedMessage, UserMessage
from actors.law.closing import advance_tail, unanswered_calls
from actors.law.ids import QueuedId
from actors.law.parts.message import TextPart
from actors.law.refusals import NotAllowed
from actors.law.states import State, Status
from actors.law.store.needs import needs_the_time
from actors.law.transitions import bundle, create, transition
from tests.actors.law.chats import COLUMNS
from tests.models.book import Book, narrowed
from tests.models.plain import Plain
from tests.models.requests import (
    BEGINNING,
    FILES,
    HOLDERS,
    USERS,
    errors,
    flags,
    new_chat,
    pick,
    request_for,
    retries,
    sane_step,
)

BUNDLE_MAX = 3
TAG = "message "  # longer than any text that is drawn
SHORT = UserMessage((TextPart("now"),), USERS[0])


class Twice:
    def __init__(self, draw):
        new = new_chat(draw)
        self.sane = draw(flags)  # steps are what a worker would commit
        self.now = BEGINNING
        made = create(new, now=self.now, files=KnownFiles(stored=frozenset(FILES)))
        assert isinstance(made, Change)
        self.book = Book(made)
        self.plain = Plain(new.chat, new.messages, stored_files=set(FILES))
        self.tags = self.asked = 0
        self.sent = Counter()  # tags of the messages that users have said and not taken back
        if draw(flags):
            self._found_half_way(draw)
        self.before = self.book.chat

    def _found_half_way(self, draw):
        """The chat has been through something: any state, any queue, calls that may be open."""
        state = pick(draw, [state for state in State if state is not State.INVALID])
        status, _, archived = COLUMNS[state]
        rows = pick(draw, (1, 2, 3)) if state.value.endswith("1") else 0
        queue = tuple(self._queued(n, pick(draw, (False, True))) for n in range(1, rows + 1))
        said = self._said_before(draw, status)
        columns = {
            "status": status,
            "archived": archived,
            "last_error": draw(errors) if status is Status.ERROR else None,
            "requires_action_deadline_at": self.now if status is Status.REQUIRES_ACTION else None,
            "compaction_requested_at": pick(draw, (None, self.now)),
            "holder": pick(draw, (None, *HOLDERS)),
            "generation_attempt": pick(draw, (0, 3)),
            "provider_failures_count": pick(draw, (0, 2)),
            "process_deaths_count": pick(draw, (0, 2)),
            "retry_state": draw(st.none() | retries),
            "pin_order": 0 if archived else 3,
            "approvals": (),
        }
        if status is Status.REQUIRES_ACTION:
            columns |= self._asking(draw, said)
        self.book.become(columns, queue, said, self.now)
        self.plain.become(columns, queue, said)

    def _said_before(self, draw, status):
        """Draw the last step; nearly always one with open calls if the chat waits for answers."""
        for _ in range(5):
            said = sane_step(draw, self.book.read(self.now))
            if status is not Status.REQUIRES_ACTION or unanswered_calls(advance_tail((), said)):
                break
        return said

    def _asking(self, draw, said):
        """A person is asked about some of the open calls, and may have allowed all but the last of
        these; about the others the client is asked."""
        calls = {call.id: call for call in unanswered_calls(advance_tail((), said))}
        asked = list(calls.values())[: pick(draw, (0, 1, 3, 3))]
        approvals = tuple(
            Approval(
                call.id,
                call.name,
                "{}",
                self.now,
                pick(draw, (None, self.now)),
                pick(draw, (None, *USERS)) if call is not asked[-1] else None,
            )
            for call in asked
        )
        ids = {approval.tool_call_id for approval in approvals}
        tools = self.book.chat.dynamic_tools
        client = any(call.name in tools and id not in ids for id, call in calls.items())
        deadline = self.now if client or not approvals else None
        return {"approvals": approvals, "requires_action_deadline_at": deadline}

    def _queued(self, number, steers):
        self.sent[f"{TAG}queued {number}"] += 1
        message = replace(SHORT, parts=(TextPart(f"{TAG}queued {number}"),))
        return QueuedMessage(QueuedId(number), number, message, steers)

    def go_on(self, draw):
        """Something is asked, or happens."""
        play = (*[self._one] * 6, *[self._several] * 3, self._impatient, self._past_the_law)
        pick(draw, play)(draw)

    def _one(self, draw):
        self._ask([self._drawn(draw, self.book.read(self.now))])

    def _several(self, draw):
        stored = self.book.read(self.now)
        requests = []
        while len(requests) < BUNDLE_MAX:
            requests.append(self._drawn(draw, stored, edits=not requests))
            made = transition(self.book.read(self.now, requests[:1]), requests[0])
            for request in requests[1:]:
                made = transition(made.after, request)
            if not isinstance(made, Change):
                break
            stored = made.after
        self._ask(requests)

    def _impatient(self, draw):
        """A user fills the queue, now and then all of it."""
        count = pick(draw, (0, 1, 2, 3, 4, 22))
        for _ in range(count):
            busy = pick(draw, tuple(ask.BusyBehaviour))
            self._ask([self._tagged(ask.SendMessage(SHORT, busy))])

    def _past_the_law(self, draw):
        """Somebody writes the columns directly, which only one who is not sane does."""
        if self.sane:
            return
        archived, status = pick(draw, (False, True)), pick(draw, tuple(Status))
        self.book.chat = replace(self.book.chat, archived=archived, status=status)
        self.plain.archived, self.plain.status = archived, status.value
        self.before = self.book.chat

    def _drawn(self, draw, stored, *, edits=True):
        ids = [m.id for m in self.book.messages[-12:]]
        return self._tagged(request_for(draw, stored, ids, sane=self.sane, edits=edits))

    def _tagged(self, request):
        """Each message of a user says which one it is."""
        if not isinstance(request, ask.SendMessage | ask.EditMessage | ask.EditQueued):
            return request
        self.tags += 1
        said = (TextPart(f"{TAG}{self.tags}"), *request.message.parts)
        return replace(request, message=replace(request.message, parts=said))

    def _ask(self, requests):
        self.asked += 1
        self.now += timedelta(seconds=1)
        self.before = self.book.chat
        stored = self.book.read(self.now, requests)

        made = bundle(stored, requests)

        assert _decided(made) == _decided(bundle(narrowed(stored, requests), requests))
        if not needs_the_time(stored, requests):
            later = replace(stored, now=self.now + timedelta(hours=1))
            assert _decided(made) == _decided(bundle(later, requests))
        assert self.plain.ask(requests, self.now) == _named(made)
        if not isinstance(made, Change):
            return
        _check_order(stored.queue, made.queue, requests)
        self._keep_account(requests, stored)
        self.book.write(made)

    def _keep_account(self, requests, stored):
        """What is said more, and what is explicitly taken back."""
        for request in requests:
            made = transition(stored, request)
            queue = {row.id: tag(row.message) for row in stored.queue}
            match request:
                case ask.SendMessage(message=message):
                    self.sent[tag(message)] += 1
                case ask.EditQueued(queued_id=id, message=message):
                    self.sent -= Counter([queue[id]])
                    self.sent[tag(message)] += 1
                case ask.DeleteQueued(queued_id=id):
                    self.sent -= Counter([queue[id]])
                case ask.EditMessage(message=message):
                    gone = {row.id for row in made.deleted}
                    forgotten = [tag(m.body) for m in self.book.messages if m.id in gone]
                    self.sent -= Counter([*queue.values(), *forgotten])
                    self.sent[tag(message)] += 1
            stored = made.after


def _decided(made):
    """All of a decision but the reading that it was made from."""
    return replace(made, before=None) if isinstance(made, Change) else made


def _named(made):
    if isinstance(made, Change):
        return None
    fault = made.fault if isinstance(made, NotAllowed) else None
    return type(made).__name__ + (f":{type(fault).__name__}" if fault else "")


def _check_order(before, after, requests):
    """Rows that stay keep their order, unless somebody asked for another."""
    if any(isinstance(asked, ask.PromoteQueued | ask.ReorderQueued) for asked in requests):
        return
    ids = [row.id for row in after]
    assert [row.id for row in before if row.id in ids] == [
        id for id in ids if id in {row.id for row in before}
    ]


def tag(message):
    """Which of the messages that users sent it is; None: another."""
    first = message.parts[0] if message.parts else None
    is_tag = isinstance(first, TextPart) and first.text.startswith(TAG)
    return first.text if is_tag else None
