"""Mistakes planted in the law, one at a time, to see that the nets catch them.

Each is one that somebody could make: text that stands once in a file, what it is changed to, and
the nets that must go red. The same list stands in tests/README.md.
"""

from dataclasses import dataclass

MATRIX, TRANSITIONS, MODEL = "matrix", "transitions", "model"
NETS = (MATRIX, TRANSITIONS, MODEL)


@dataclass(frozen=True, slots=True)
class Mutation:
    what: str
    file: str  # in actors/machine
    old: str
    new: str
    nets: tuple[str, ...]


def _m(what, file, old, new, *nets):
    return Mutation(what, file, old, new, nets)


MUTATIONS = (
    _m(
        "a running turn can be archived",
        "table.py",
        "        ask.Interrupt: _to(I0),",
        "        ask.Interrupt: _to(I0),\n        ask.SetArchived: _to(INVALID),",
        MATRIX,
        MODEL,
    ),
    _m(
        "a compaction may be asked for in the middle of a turn",
        "table.py",
        "        ask.EnterRequiresAction: _to(A0),",
        "        ask.EnterRequiresAction: _to(A0),\n        ask.RequestCompaction: _to(R0),",
        MATRIX,
        MODEL,
    ),
    _m(
        "an idle chat cannot fail",
        "table.py",
        "        ask.FinishError: _to(E0),\n    },\n    E0: {",
        "    },\n    E0: {",
        MATRIX,
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "an archived chat that is busy counts as live",
        "states.py",
        "(_ARCHIVED if archived else _LIVE)",
        "(_ARCHIVED if archived and (status, queued) in _ARCHIVED else _LIVE)",
        MATRIX,
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "archiving twice is no refusal",
        "transitions.py",
        "    if chat.archived == request.archived:",
        "    if chat.archived == request.archived is False:",
        MATRIX,
        MODEL,
    ),
    _m(
        "a chat that nobody holds can be given back",
        "transitions.py",
        "    if stored.chat.holder is None:\n        return _refuse",
        "    if False:\n        return _refuse",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "an interrupt stops the wait for a client, not only its calls",
        "transitions.py",
        "    if stored.chat.status is Status.RUNNING:\n"
        "        return change(stored, status=Status.INTERRUPTING)",
        "    if stored.chat.status is not Status.INTERRUPTING:\n"
        "        return change(stored, status=Status.INTERRUPTING)",
        MATRIX,
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "an interrupting message closes local calls too",
        "transitions.py",
        "        closed = dynamic_cancellations(stored, USER_MESSAGE)",
        "        closed = cancellations(stored, USER_MESSAGE)",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "promotion closes the client's calls only",
        "transitions.py",
        "    said = (*cancellations(stored, PROMOTION), head.message.as_body())",
        "    said = (*dynamic_cancellations(stored, PROMOTION), head.message.as_body())",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "the message stands before the results that close its forerunners' calls",
        "transitions.py",
        "        said = (*closed, request.message.as_body())",
        "        said = (request.message.as_body(), *closed)",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "an edit closes nothing",
        "transitions.py",
        "        said=(*cancellations(stored, MESSAGE_EDITED), replacement, *request.then),",
        "        said=(replacement, *request.then),",
        TRANSITIONS,
    ),
    _m(
        "an edit keeps the queue",
        "transitions.py",
        "        status=Status.RUNNING,\n        queue=(),",
        "        status=Status.RUNNING,",
        MATRIX,
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "an edit forgets the rows behind its target but not the target",
        "transitions.py",
        "        unsaid=(HistoryRow(suffix.target.id, old.visibility), *suffix.later),",
        "        unsaid=suffix.later,",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "an edit shows what was hidden",
        "transitions.py",
        "        visibility=old.visibility,\n",
        "",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "assistant messages can be edited",
        "transitions.py",
        "    if old.role is not Role.USER:",
        "    if old.role is Role.TOOL:",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "a message that only waits drops the wish for a compaction",
        "transitions.py",
        "        queue=queue,\n        compaction_requested_at=marker,\n",
        "        queue=queue,\n",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "a message that only waits takes the deadline of the client away",
        "transitions.py",
        "        compaction_requested_at=marker,\n"
        "        requires_action_deadline_at=chat.requires_action_deadline_at,\n",
        "        compaction_requested_at=marker,\n",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "every step consumes the wish for a compaction",
        "transitions.py",
        "None if request.consumes_compaction else stored.chat.compaction_requested_at",
        "None",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "archiving drops the wish for a compaction",
        "transitions.py",
        "        pin_order=0 if request.archived else chat.pin_order,\n"
        "        compaction_requested_at=chat.compaction_requested_at,\n",
        "        pin_order=0 if request.archived else chat.pin_order,\n",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "the deadline of the client stays when its turn is over",
        "change.py",
        '{"requires_action_deadline_at": None, "compaction_requested_at": None} | columns',
        '{"compaction_requested_at": None} | columns',
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "a promoted message leaves the error standing",
        "transitions.py",
        "        return change(stored, status=Status.INTERRUPTING, queue=queue)\n"
        "    return _take_head(stored, queue, last_error=None)",
        "        return change(stored, status=Status.INTERRUPTING, queue=queue)\n"
        "    return _take_head(stored, queue)",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "a compaction keeps the holder",
        "transitions.py",
        "        holder=None,\n        compaction_requested_at=stored.now,",
        "        compaction_requested_at=stored.now,",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "a compaction goes on in the old epoch",
        "transitions.py",
        "        compaction_requested_at=stored.now,\n        new_epoch=True,",
        "        compaction_requested_at=stored.now,",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "an interruption forgets calls of its own partial message",
        "transitions.py",
        "    partial = change(stored, said=request.partials).after",
        "    partial = stored",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "an interruption leaves open calls to whoever asked for it",
        "transitions.py",
        "    said = (*request.partials, *interruptions(partial))",
        "    said = request.partials",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "an edit replaces whatever message was read for it",
        "transitions.py",
        "    if suffix is None or suffix.target.id != request.message_id:",
        "    if suffix is None:",
        TRANSITIONS,
    ),
    _m(
        "a message that waits goes in front of the others",
        "queueing.py",
        "_behind_steering(queue) if steers else len(queue)",
        "_behind_steering(queue)",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "a client is waited for though all its calls are answered",
        "transitions.py",
        "    if not outstanding_dynamic(stored):",
        "    if not stored.tail:",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "what steers enters behind a final answer too",
        "transitions.py",
        "    asks_model = spoken[-1:] == [Role.TOOL]",
        "    asks_model = bool(said)",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "what steers enters while calls are open",
        "transitions.py",
        "    if asks_model and not outstanding(advance(stored.tail, said)):",
        "    if asks_model:",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "at a boundary the whole queue enters",
        "transitions.py",
        "        queue = tuple(row for row in queue if not row.steers)",
        "        queue = ()",
        MATRIX,
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "an interrupting message is no boundary for those that steer",
        "transitions.py",
        "        return _resume(stored, closed, queue=queue, compaction_requested_at=marker)",
        "        return change(\n"
        "            stored,\n"
        "            status=Status.RUNNING,\n"
        "            said=closed,\n"
        "            queue=queue,\n"
        "            compaction_requested_at=marker,\n"
        "        )",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "a steering message counts those that steer instead of looking where they are",
        "queueing.py",
        "    return max((at for at, row in enumerate(queue, start=1) if row.steers), default=0)",
        "    return sum(row.steers for row in queue)",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "the queue takes one row too many",
        "queueing.py",
        "    if len(queue) >= QUEUE_ROWS_MAX:",
        "    if len(queue) > QUEUE_ROWS_MAX:",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "a promoted message gets the same position as the head",
        "queueing.py",
        "    head = replace(row, position=queue[0].position - 1)",
        "    head = replace(row, position=queue[0].position)",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "whoever rewords a message becomes its sender",
        "queueing.py",
        "        created_by=old.created_by,\n",
        "",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "a new order may leave rows out",
        "queueing.py",
        "    if len(request.order) != len(rows) or set(request.order) != rows.keys():",
        "    if not set(request.order) <= rows.keys():",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "calls that the provider executes are answered",
        "closing.py",
        " and not part.provider_executed and part.id not in answered",
        " and part.id not in answered",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "results that no user sees count as answers",
        "closing.py",
        "if body.visibility is not Visibility.MODEL)",
        "if body)",
        TRANSITIONS,
    ),
    _m(
        "a result in the assistant's own message is no answer",
        "closing.py",
        "for parts in (assistant.parts, *visible)",
        "for parts in (*visible,)",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "what is unexpected is named before what is missing",
        "answers.py",
        "    if missing is not None:\n",
        "    if missing is not None and submitted <= wanted.keys():\n",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "invalid JSON is named before the second answer to a call",
        "answers.py",
        "        if result.tool_call_id in submitted:\n"
        "            return DuplicateResult(result.tool_call_id)\n"
        "        if not _is_json(result.output):\n"
        "            return InvalidResult(result.tool_call_id)\n",
        "        if not _is_json(result.output):\n"
        "            return InvalidResult(result.tool_call_id)\n"
        "        if result.tool_call_id in submitted:\n"
        "            return DuplicateResult(result.tool_call_id)\n",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "attempts are counted on in the new history",
        "change.py",
        "    if history_moves:\n        attempt = 0\n",
        "    if history_moves:\n",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "a retry state outlives its attempt",
        "change.py",
        "    if history_moves or attempt != chat.generation_attempt:",
        "    if history_moves:",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "a retry state takes a new version though it is the same",
        "change.py",
        "    if retry_state != chat.retry_state:",
        "    if retry_state is not None:",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "what is said does not move the history",
        "change.py",
        "        history_moves=bool(said or unsaid or new_epoch),",
        "        history_moves=bool(unsaid or new_epoch),",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "every write moves the queue's version",
        "change.py",
        "        queue_moves=queue is not stored.queue and queue != stored.queue,",
        "        queue_moves=bool(queue),",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "the first choice of a batch counts, not the last",
        "change.py",
        '            chosen["last_model_config_id"] = body.model_config_id',
        '            chosen.setdefault("last_model_config_id", body.model_config_id)',
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "files that a queued message brought are looked for again",
        "change.py",
        "(parts for parts in said if parts not in known)",
        "(said)",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "files of messages that wait are linked when their turn comes",
        "change.py",
        "    said += [row.message.parts for row in made.queue]\n",
        "",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "the fifty-first file is still linked",
        "transitions.py",
        "    if len(files.linked | new) > FILES_PER_CHAT_MAX:",
        "    if len(files.linked) > FILES_PER_CHAT_MAX:",
        TRANSITIONS,
    ),
    _m(
        "a bundle forgets what its first requests said",
        "change.py",
        "        said=first.said + second.said,",
        "        said=second.said,",
        TRANSITIONS,
        MODEL,
    ),
    _m(
        "a fence does not look at the history",
        "fences.py",
        "        and chat.history_version == fence.history_version\n",
        "",
        TRANSITIONS,
    ),
    _m(
        "a fence looks at the worker only",
        "fences.py",
        "        chat.holder == fence.holder\n",
        "        chat.holder is not None and chat.holder.worker == fence.holder.worker\n",
        TRANSITIONS,
    ),
    _m(
        "a fence of the noughth attempt stands for every attempt",
        "fences.py",
        "        and fence.attempt in (None, chat.generation_attempt)",
        "        and (not fence.attempt or fence.attempt == chat.generation_attempt)",
        TRANSITIONS,
    ),
    _m(
        "the store does not read open calls for the end of a turn",
        "needs.py",
        "        ask.FinishTurn,\n",
        "",
        MODEL,
    ),
)


def table():
    """The list as it stands in tests/README.md."""
    head = f"| planted in actors/machine | in | {' | '.join(NETS)} |\n|---|---|{'---|' * len(NETS)}"
    rows = (
        f"| {m.what} | {m.file} | {' | '.join('x' if net in m.nets else ' ' for net in NETS)} |"
        for m in MUTATIONS
    )
    return "\n".join((head, *rows)) + "\n"
