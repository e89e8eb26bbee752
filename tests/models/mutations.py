"""Mistakes planted in the law, one at a time, to see that the nets catch them.

Each is one that somebody could make: what it is, the file in actors/law and the nets that
must go red, and the lines before (blank and -) and after (blank and +). The same list stands in
tests/README.md.
"""

from dataclasses import dataclass

MATRIX, TRANSITIONS, MODEL = "matrix", "transitions", "model"
NETS = (MATRIX, TRANSITIONS, MODEL)

PLANTED = r"""
# a running turn can be archived
table.py: matrix, model
         ask.Interrupt: _to(I0),
+        ask.SetArchived: _to(INVALID),

# a compaction may be asked for in the middle of a turn
table.py: matrix, model
         ask.EnterRequiresAction: _to(A0),
+        ask.RequestCompaction: _to(R0),

# an idle chat cannot fail
table.py: matrix, transitions, model
-        ask.FinishError: _to(E0),
     },
     E0: {

# an archived chat that is busy counts as live
states.py: matrix, transitions, model
+    archived = archived and (status, queued) in _ARCHIVED
     return (_ARCHIVED if archived else _LIVE).get((status, queued), State.INVALID)

# archiving twice is no refusal
transitions.py: matrix, model
-    if chat.archived == request.archived:
+    if chat.archived == request.archived is False:

# a chat that nobody holds can be given back
transitions.py: transitions, model
-    if stored.chat.holder is None:
+    if False:

# an interrupt stops the wait for a client, not only its calls
transitions.py: matrix, transitions, model
-    if stored.chat.status is Status.RUNNING:
+    if stored.chat.status is not Status.INTERRUPTING:

# an interrupting message closes local calls too
transitions.py: transitions, model
-        closed = awaited_cancellations(stored, USER_MESSAGE)
+        closed = cancellations(stored, USER_MESSAGE)

# promotion closes the client's calls only
transitions.py: transitions, model
-    added = (*cancellations(stored, PROMOTION), head.message.as_body())
+    added = (*dynamic_cancellations(stored, PROMOTION), head.message.as_body())

# the message stands before the results that close its forerunners' calls
transitions.py: transitions, model
-        added = (*closed, request.message.as_body())
+        added = (request.message.as_body(), *closed)

# an edit closes nothing
transitions.py: transitions
-        added=(*cancellations(stored, MESSAGE_EDITED), replacement, *request.then),
+        added=(replacement, *request.then),

# an edit keeps the queue
transitions.py: matrix, transitions, model
-        queue=(),

# an edit forgets the rows behind its target but not the target
transitions.py: transitions, model
-        deleted=(HistoryRow(suffix.target.id, old.visibility), *suffix.later),
+        deleted=suffix.later,

# an edit shows what was hidden
transitions.py: transitions, model
-        visibility=old.visibility,

# assistant messages can be edited
transitions.py: transitions, model
-    if old.role is not Role.USER:
+    if old.role is Role.TOOL:

# a message that only waits drops the wish for a compaction
transitions.py: transitions, model
-        compaction_requested_at=marker,

# a message that only waits takes the deadline of the client away
transitions.py: transitions, model
-        requires_action_deadline_at=chat.requires_action_deadline_at,

# every step consumes the wish for a compaction
transitions.py: transitions, model
-    marker = None if request.consumes_compaction else stored.chat.compaction_requested_at
+    marker = None

# archiving drops the wish for a compaction
transitions.py: transitions, model
         pin_order=0 if request.archived else chat.pin_order,
-        compaction_requested_at=chat.compaction_requested_at,

# the deadline of the client stays when its turn is over
change.py: transitions, model
-    columns = {"requires_action_deadline_at": None, "compaction_requested_at": None} | columns
+    columns = {"compaction_requested_at": None} | columns

# a promoted message leaves the error standing
transitions.py: transitions, model
         return change(stored, status=Status.INTERRUPTING, queue=queue)
-    return _take_head(stored, queue, last_error=None)
+    return _take_head(stored, queue)

# a compaction keeps the holder
transitions.py: transitions, model
-        holder=None,
         compaction_requested_at=stored.now,

# a compaction goes on in the old epoch
transitions.py: transitions, model
         compaction_requested_at=stored.now,
-        new_epoch=True,

# a turn is tried again in the old epoch
transitions.py: transitions, model
         compaction_requested_at=stored.now if is_of_compaction else chat.compaction_requested_at,
-        new_epoch=True,

# an attempt that is being made can be tried again
transitions.py: transitions, model
-    if chat.status is Status.RUNNING and chat.retry_state is None:
+    if False:

# a summary that was asked for and failed is not asked for by a retry
transitions.py: transitions
-        compaction_requested_at=stored.now if is_of_compaction else chat.compaction_requested_at,
+        compaction_requested_at=chat.compaction_requested_at,

# a turn that is tried again forgets which model was chosen
transitions.py: transitions, model
-        last_model_config_id=request.model_config_id or chat.last_model_config_id,
+        last_model_config_id=request.model_config_id,

# what has just been summarised is summarised again
closing.py: transitions, model
-    return bool(tail) and not (
-        tail[0].visibility is Visibility.USER
-        and any(isinstance(p, ToolCallPart) and p.name == SUMMARY_CALL for p in tail[0].parts)
-    )
+    return bool(tail)

# a call that a model has made up passes for a summary
closing.py: transitions, model
-        tail[0].visibility is Visibility.USER
-        and any(isinstance(p, ToolCallPart) and p.name == SUMMARY_CALL for p in tail[0].parts)
+        any(isinstance(p, ToolCallPart) and p.name == SUMMARY_CALL for p in tail[0].parts)

# what no model has answered is summarised
closing.py: transitions, model
-    return bool(tail) and not (
+    return not tail or not (

# an interruption forgets calls of its own partial message
transitions.py: transitions, model
-    partial = change(stored, added=request.partials).after
+    partial = stored

# an interruption leaves open calls to whoever asked for it
transitions.py: transitions, model
-    added = (*request.partials, *interruptions(partial))
+    added = request.partials

# an edit replaces whatever message was read for it
transitions.py: transitions
-    if suffix is None or suffix.target.id != request.message_id:
+    if suffix is None:

# a message that waits goes in front of the others
queueing.py: transitions, model
-    before = _behind_steering(queue) if steers else len(queue)
+    before = _behind_steering(queue)

# a client is waited for though all its calls are answered
transitions.py: transitions, model
-    if not waits_for_others(waiting):
+    if not stored.tail:

# what steers enters behind a final answer too
change.py: transitions, model
-    asks_model = spoken[-1:] == [Role.TOOL]
+    asks_model = bool(added)

# what steers enters while calls are open
change.py: transitions, model
-    if asks_model and not unanswered_calls(advance_tail(stored.tail, added)):
+    if asks_model:

# at a boundary the whole queue enters
change.py: matrix, transitions, model
-        queue = tuple(row for row in queue if not row.steers)
+        queue = ()

# an interrupting message is no boundary for those that steer
transitions.py: transitions, model
-        return resume(stored, closed, queue=queue, compaction_requested_at=marker)
+        return change(
+            stored,
+            status=Status.RUNNING,
+            added=closed,
+            queue=queue,
+            compaction_requested_at=marker,
+        )

# a steering message counts those that steer instead of looking where they are
queueing.py: transitions, model
-    return max((at for at, row in enumerate(queue, start=1) if row.steers), default=0)
+    return sum(row.steers for row in queue)

# the queue takes one row too many
queueing.py: transitions, model
-    if len(queue) >= QUEUE_ROWS_MAX:
+    if len(queue) > QUEUE_ROWS_MAX:

# a promoted message gets the same position as the head
queueing.py: transitions, model
-    head = replace(row, position=queue[0].position - 1)
+    head = replace(row, position=queue[0].position)

# whoever rewords a message becomes its sender
queueing.py: transitions, model
-        created_by=old.created_by,

# a new order may leave rows out
queueing.py: transitions, model
-    if len(request.order) != len(rows) or set(request.order) != rows.keys():
+    if not set(request.order) <= rows.keys():

# calls that the provider executes are answered
closing.py: transitions, model
-        if isinstance(part, ToolCallPart) and not part.provider_executed and part.id not in answered
+        if isinstance(part, ToolCallPart) and part.id not in answered

# results that no user sees count as answers
closing.py: transitions
-    visible = (body.parts for body in later if body.visibility is not Visibility.MODEL)
+    visible = (body.parts for body in later if body)

# a result in the assistant's own message is no answer
closing.py: transitions
-    answered = {part.id for parts in (assistant.parts, *visible) for part in _results(parts)}
+    answered = {part.id for parts in (*visible,) for part in _results(parts)}

# what is unexpected is named before what is missing
answers.py: transitions, model
-    if missing is not None:
+    if missing is not None and submitted <= wanted.keys():

# invalid JSON is named before the second answer to a call
answers.py: transitions, model
-        if result.tool_call_id in submitted:
-            return DuplicateResult(result.tool_call_id)
-        if not is_json(result.output):
-            return InvalidResult(result.tool_call_id)
+        if not is_json(result.output):
+            return InvalidResult(result.tool_call_id)
+        if result.tool_call_id in submitted:
+            return DuplicateResult(result.tool_call_id)

# consent outlives the call that it was asked for
change.py: transitions, model
-    if approvals and added:
+    if approvals and deleted:

# the calls of a new message take over the consent of the ones before them
change.py: transitions
-    if any(body.role is Role.ASSISTANT for body in added):
-        return ()
     open_ids = {call.id for call in unanswered_calls(advance_tail(stored.tail, added))}

# the turn goes on while a person is asked
closing.py: matrix, transitions, model
-    return bool(stored.chat.open_approvals or unanswered_dynamic_calls(stored))
+    return bool(unanswered_dynamic_calls(stored))

# the client may answer what a person is asked
closing.py: transitions, model
-    return tuple(call for call in calls if call.id not in asked) if asked else calls
+    return calls

# whoever decides last has decided
answers.py: transitions, model
-            for one in chat.open_approvals
+            for one in chat.approvals

# who has decided about an earlier call of an id has decided about the later one
answers.py: transitions, model
-            if one.tool_call_id == request.tool_call_id and request.asked_at in (None, one.asked_at)
+            if one.tool_call_id == request.tool_call_id

# consent to one call is consent to all that are asked about
answers.py: transitions, model
-        replace(one, allowed_by=by) if one is approval else one for one in stored.chat.approvals
+        replace(one, allowed_by=by) for one in stored.chat.approvals

# what is asked is denied before its time
answers.py: transitions, model
-        a for a in stored.chat.open_approvals if a.until is not None and a.until <= stored.now
+        a for a in stored.chat.open_approvals if a.until is not None

# an interrupt leaves open what a person was asked
transitions.py: transitions, model
-    return resume(stored, awaited_cancellations(stored, request.reason))
+    return resume(stored, dynamic_cancellations(stored, request.reason))

# who denies says nothing to the model
answers.py: transitions, model
-        words = f"{DENIED}. They say: {request.words}" if request.words else DENIED
+        words = DENIED

# attempts are counted on in the new history
change.py: transitions, model
-        attempt = 0

# failures of the provider are counted on in the new history
change.py: transitions, model
-            "provider_failures_count": 0,

# deaths of processes are counted on in the new history
change.py: transitions, model
-            "process_deaths_count": 0,

# a failure of the provider is not counted
transitions.py: transitions, model
-    return _same(stored, retry_state=retry, provider_failures_count=failures)
+    return _same(stored, retry_state=retry)

# who takes a chat that was given back counts a death
transitions.py: transitions, model
-    if request.after_death and chat.holder is not None and is_at_work:
+    if request.after_death and is_at_work:

# a process that dies in a pause counts
transitions.py: transitions, model
-    is_at_work = stored.state in (State.R0, State.R1) and chat.retry_state is None
+    is_at_work = stored.state in (State.R0, State.R1)

# a retry state outlives its attempt
change.py: transitions, model
-    if history_moves or attempt != chat.generation_attempt:
+    if history_moves:

# a retry state takes a new version though it is the same
change.py: transitions, model
-    if retry_state != chat.retry_state:
+    if retry_state is not None:

# what is said does not move the history
change.py: transitions, model
-        history_moves=bool(added or deleted or new_epoch),
+        history_moves=bool(deleted or new_epoch),

# every write moves the queue's version
change.py: transitions, model
-        queue_moves=queue is not stored.queue and queue != stored.queue,
+        queue_moves=bool(queue),

# the first choice of a batch counts, not the last
change.py: transitions, model
-            chosen["last_model_config_id"] = body.model_config_id
+            chosen.setdefault("last_model_config_id", body.model_config_id)

# files that a queued message brought are looked for again
change.py: transitions, model
-    return referenced_files(parts for parts in added if parts not in known)
+    return referenced_files(added)

# files of messages that wait are linked when their turn comes
change.py: transitions, model
-    added += [row.message.parts for row in made.queue]

# the fifty-first file is still linked
change.py: transitions
-    if len(files.linked | new) > FILES_PER_CHAT_MAX:
+    if len(files.linked) > FILES_PER_CHAT_MAX:

# a bundle forgets what its first requests said
change.py: transitions, model
-        added=first.added + second.added,
+        added=second.added,

# a fence does not look at the history
store/ports.py: transitions
-        and chat.history_version == fence.history_version

# a fence looks at the worker only
store/ports.py: transitions
-        chat.holder == fence.holder
+        chat.holder is not None and chat.holder.worker == fence.holder.worker

# a fence of the noughth attempt stands for every attempt
store/ports.py: transitions
-        and fence.attempt in (None, chat.generation_attempt)
+        and (not fence.attempt or fence.attempt == chat.generation_attempt)

# a summary that is asked for once more is dated by what its holder knew
store/needs.py: model
         ask.FinishInterruption,
-        ask.RetryTurn,
"""  # noqa: E501  # lines of the law, and one character


@dataclass(frozen=True, slots=True)
class Mutation:
    what: str
    file: str  # in actors/law
    old: str
    new: str
    nets: tuple[str, ...]


def _read(block):
    what, where, *lines = block.strip("\n").splitlines()
    file, nets = where.split(": ")
    old = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
    new = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
    return Mutation(what.removeprefix("# "), file, old, new, tuple(nets.split(", ")))


MUTATIONS = tuple(map(_read, PLANTED.strip("\n").split("\n\n")))


def table():
    """The list as it stands in tests/README.md."""
    head = f"| planted in actors/law | in | {' | '.join(NETS)} |\n|---|---|{'---|' * len(NETS)}"
    rows = (
        f"| {m.what} | {m.file} | {' | '.join('x' if net in m.nets else ' ' for net in NETS)} |"
        for m in MUTATIONS
    )
    return "\n".join((head, *rows)) + "\n"
