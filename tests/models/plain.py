"""The stored chat as a naive program would keep it: lists, strings, and ifs.

Written from the specification, apart from the law, to be compared with it. It changes itself as
it goes, looks at the whole history, and puts everything back if a request is refused.
"""

import json
from dataclasses import replace
from datetime import timedelta

from actors.law.chat import Body, ChatError, Role, Visibility
from actors.law.parts.message import FilePart, ToolCallPart, ToolResultPart

OVER = ("waiting", "error")
DEFAULT_ERROR = ChatError(
    "The chat was in an invalid state and has been stopped. "
    "Send a message or edit the conversation to go on."
)


class Refused(Exception):
    """`str` names the refusal, and the fault in it if there is one."""


class Plain:
    def __init__(self, new, bodies, *, stored_files):
        self.stored_files = stored_files
        self.tools = {tool.name for tool in new.dynamic_tools}
        self.history = []  # [id, body, deleted, revision]
        self.queue = []  # [id, message, steers]
        self.files = set()
        self.next_queued_id = 1
        self.status, self.archived, self.holder = "running", False, None
        self.error = self.retry = self.deadline = self.marker = None
        self.model = self.effort = None
        self.snapshot, self.history_version, self.queue_version = 1, 0, 0
        self.retry_version = self.attempt = self.pin = 0
        self.failures = self.deaths = 0
        self.options = [new.plan_mode, new.mcp_server_ids]
        self.consent = []  # [id, tool, asked at, until, allowed by], of calls that are open
        self.decided = []  # (id, tool, verdict, by, words)
        self._say(*bodies)
        self._link_files()

    def become(self, columns, queue, said):
        """One more step was said, and these are the queue and the columns since."""
        self.snapshot += 1
        self._say(*said)
        self._link_files()
        self.queue = [[row.id, row.message, row.steers] for row in queue]
        self.next_queued_id = len(queue) + 1
        self.status, self.archived = columns["status"].value, columns["archived"]
        self.error, self.retry = columns["last_error"], columns["retry_state"]
        self.deadline = columns["requires_action_deadline_at"]
        self.marker = columns["compaction_requested_at"]
        self.holder, self.attempt = columns["holder"], columns["generation_attempt"]
        self.pin = columns["pin_order"]
        self.failures = columns["provider_failures_count"]
        self.deaths = columns["process_deaths_count"]
        self.consent = [
            [a.tool_call_id, a.tool, a.asked_at, a.until, a.allowed_by]
            for a in columns["approvals"]
        ]

    def ask(self, requests, now):
        """None, or the name of what refused all of them."""
        kept = {k: list(v) if isinstance(v, list) else v for k, v in vars(self).items()}
        kept["files"] = set(self.files)
        kept["consent"] = [list(row) for row in self.consent]
        self.snapshot += 1
        self.now = now
        try:
            for request in requests:
                self._one(request)
        except Refused as refused:
            vars(self).update(kept)
            return str(refused)
        for row in sorted((r for r in self.queue if r[0] < 0), key=lambda r: -r[0]):
            self.queue[self.queue.index(row)] = [self.next_queued_id, *row[1:]]
            self.next_queued_id += 1
        return None

    def _one(self, request):
        name = type(request).__name__
        broken = (self.status == "waiting" and self.queue) or (
            self.archived and self.status not in OVER
        )
        if name == "ReconcileInvalidState":
            self._need(broken)
        elif broken and name not in ("Acquire", "TakeUp", "Abandon"):
            raise Refused("InvalidState")
        elif self.archived:
            self._need(name in ("SetArchived", "Acquire", "TakeUp", "Abandon"))
        queue = list(self.queue)
        getattr(self, name)(request)
        still = {call.id for call in self._open()}
        self.consent = [row for row in self.consent if row[0] in still]
        if self.queue != queue:
            self.queue_version = self.snapshot
        self._link_files()

    # Users

    def SetArchived(self, request):
        self._need(self.status in OVER and request.archived != self.archived)
        self.archived = request.archived
        self.deadline = None
        if self.archived:
            self.pin = 0

    def SendMessage(self, request):
        how = request.busy.value
        if request.options.plan_mode is not None:
            self.options[0] = request.options.plan_mode
        if request.options.mcp_server_ids is not None:
            self.options[1] = request.options.mcp_server_ids
        if self.status in OVER and not self.queue:
            self._close(self._open(), "interrupted by a new user message")
            self._say(request.message.as_body())
            self._go("running", error=None)
            return
        if len(self.queue) >= 20:
            raise Refused("QueueFull")
        id = min([row[0] for row in self.queue] + [0]) - 1
        last_steering = max([n + 1 for n, row in enumerate(self.queue) if row[2]] + [0])
        place = last_steering if how == "steer" else len(self.queue)
        self.queue.insert(place, [id, request.message, how == "steer"])
        if self.status == "error":
            self._take_head()
            self._go("running", error=None)
        elif how == "interrupt" and self.status == "running":
            self._go("interrupting", marker=self.marker)
        elif how == "interrupt" and self.status == "requires_action":
            said = self._close(self._awaited(), "interrupted by a user message")
            self._go("running", marker=self.marker)
            self._boundary(said)

    def EditMessage(self, request):
        rows = [row for row in self.history if not row[2] and row[0] >= request.message_id]
        if not rows or rows[0][0] != request.message_id:
            raise Refused("MessageNotFound")
        old = rows[0][1]
        if old.role is not Role.USER:
            raise Refused("NotAllowed:NotAUserMessage")
        for n, row in enumerate(self.history):
            if row in rows:
                self.history[n] = [*row[:2], True, self.snapshot]
        self.consent = []
        self._close(self._open(), "interrupted by an edit of the conversation")
        new = replace(request.message.as_body(), visibility=old.visibility)
        new = replace(
            new,
            model_config_id=new.model_config_id or old.model_config_id,
            reasoning_effort=new.reasoning_effort or old.reasoning_effort,
        )
        self._say(new, *request.then)
        self.queue = []
        self._go("running", error=None)

    def RequestCompaction(self, request):
        self._need(self.status in OVER)
        answers = [row[1] for row in self.history if not row[2] and row[1].role is Role.ASSISTANT]
        self._need(answers)
        said = [] if answers[-1].visibility is not Visibility.USER else answers[-1].parts
        calls = [part.name for part in said if isinstance(part, ToolCallPart)]
        self._need("chat_summarized" not in calls)
        self._go("running", error=None, marker=self.now)
        self.holder = None
        self._history_moved()

    def RetryTurn(self, request):
        self._need(self.status == "error" or (self.status == "running" and self.retry))
        self.model = request.model_config_id or self.model
        self.effort = request.reasoning_effort or self.effort
        failed = self.error is not None and self.error.of_compaction
        self._go("running", error=None, marker=self.now if failed else self.marker)
        self._history_moved()

    def DeleteQueued(self, request):
        self.queue.remove(self._queued(request))

    def PromoteQueued(self, request):
        row = self._queued(request)
        if row is not self.queue[0]:
            self.queue.remove(row)
            self.queue.insert(0, row)
        if self.status in ("running", "interrupting"):
            self._go("interrupting")
        else:
            self._take_head()
            self._go("running", error=None)

    def EditQueued(self, request):
        row = self._queued(request)
        new, old = request.message, row[1]
        new = replace(
            new,
            created_by=old.created_by,
            model_config_id=new.model_config_id or old.model_config_id,
            reasoning_effort=new.reasoning_effort or old.reasoning_effort,
        )
        self.queue[self.queue.index(row)] = [row[0], new, row[2]]

    def ReorderQueued(self, request):
        self._need(self.queue)
        ids = [row[0] for row in self.queue]
        if sorted(ids) != sorted(request.order):
            raise Refused("QueueMoved")
        self.queue.sort(key=lambda row: request.order.index(row[0]))

    def Interrupt(self, request):
        self._need(self.status in ("running", "requires_action"))
        if self.status == "running":
            self._go("interrupting")
        else:
            said = self._close(self._awaited(), request.reason)
            self._go("running")
            self._boundary(said)

    def CompleteRequiresAction(self, request):
        self._need(self.status == "requires_action")
        pending = {call.id: call for call in self._open(dynamic=True)}
        ids = [result.tool_call_id for result in request.results]
        for n, result in enumerate(request.results):
            if result.tool_call_id in ids[:n]:
                raise Refused("NotAllowed:DuplicateResult")
            try:
                json.loads(result.output.replace("NaN", "!"))
            except ValueError:
                raise Refused("NotAllowed:InvalidResult") from None
        if set(pending) - set(ids):
            raise Refused("NotAllowed:MissingResult")
        if set(ids) - set(pending):
            raise Refused("NotAllowed:UnexpectedResult")
        for given in request.results:
            call = pending[given.tool_call_id]
            said = ToolResultPart(
                call.id,
                call.name,
                given.output,
                given.is_error,
                mcp_server_config_id=call.mcp_server_config_id,
                created_at=self.now,
            )
            self._say(
                Body(
                    Role.TOOL,
                    (said,),
                    created_by=request.submitted_by,
                    model_config_id=request.model_config_id,
                )
            )
        self._say(*request.then)
        talk = [b for b in request.then if b.role in (Role.TOOL, Role.ASSISTANT)]
        self._go_on_if_nobody_is_waited_for(
            talk[-1].role is Role.TOOL if talk else bool(request.results)
        )

    def DecideApproval(self, request):
        self._need(self.status == "requires_action")
        asked = [row for row in self.consent if row[4] is None]
        found = [row for row in asked if row[0] == request.tool_call_id]
        if request.asked_at is not None:
            found = [row for row in found if row[2] == request.asked_at]
        if not found:
            raise Refused("NotAllowed:NotAwaitingDecision")
        verdict, by = request.verdict.value, request.decided_by
        if verdict == "deny":
            words = "the user did not allow this call, and it was not run"
            words += f". They say: {request.words}" if request.words else ""
            self.decided.append((*found[0][:2], "deny", by, request.words))
            self._deny(found, words, by)
        else:
            found[0][4] = by
            for rule in request.grants:
                self.decided.append((found[0][0], rule, "allow_always", by, ""))
            self.decided.append((*found[0][:2], verdict, by, ""))
        self._go_on_if_nobody_is_waited_for(verdict == "deny")

    def ReconcileInvalidState(self, request):
        self._close(self._awaited(), "cancelled because the chat was in an invalid state")
        self.archived = False
        self._go("error", error=request.error or DEFAULT_ERROR)

    # Workers

    def Acquire(self, request):
        works = self.status == "running" and not self.archived and self.retry is None
        if works and self.holder is not None and request.after_death:
            self.deaths += 1
        self.holder = request.holder

    def TakeUp(self, request):
        if self.holder is None and self.status == "running" and not self.archived:
            self.holder = request.holder
            if self.retry is None:
                self.attempt += 1

    def Abandon(self, request):
        self._need(self.holder is not None)
        self.holder = None

    def RecordGenerationAttempt(self, request):
        self._need(self.status == "running")
        self.attempt += 1
        self._set_retry(None)

    def RecordRetryState(self, request):
        self._need(self.status == "running")
        self._need(request.retry.attempt >= 1 and request.retry.error.strip())
        self._set_retry(request.retry)
        self.failures += 1

    def CommitStep(self, request):
        self._need(self.status == "running" and request.messages)
        self._say(*request.messages)
        self._go("running", marker=None if request.consumes_compaction else self.marker)
        talk = [b for b in request.messages if b.role in (Role.TOOL, Role.ASSISTANT)]
        self._boundary(bool(talk) and talk[-1].role is Role.TOOL)

    def EnterRequiresAction(self, request):
        ids = [one.tool_call_id for one in request.calls_to_approve]
        self._need(self.status == "running" and set(ids) <= {call.id for call in self._open()})
        self.consent = [row for row in self.consent if row[0] not in ids]
        until = (
            self.now + timedelta(seconds=request.approval_seconds)
            if request.approval_seconds
            else None
        )
        for one in request.calls_to_approve:
            self.consent.append([one.tool_call_id, one.tool, self.now, until, None])
        client = self._open(dynamic=True)
        self._need(client or [row for row in self.consent if row[4] is None])
        late = self.now + timedelta(minutes=5) if client else None
        self._go("requires_action", deadline=late)

    def CancelRequiresAction(self, request):
        self._need(self.status == "requires_action" and self._open(dynamic=True))
        self._close(self._open(dynamic=True), request.reason)
        self._go_on_if_nobody_is_waited_for(True)

    def ExpireApprovals(self, request):
        late = [row for row in self.consent if row[4] is None and row[3] and row[3] <= self.now]
        self._need(self.status == "requires_action")
        if not late:
            return
        self.decided += [(row[0], row[1], "deny", None, "") for row in late]
        words = "nobody allowed this call in time, and it was not run; go on without it"
        self._deny(late, words, None)
        self._go_on_if_nobody_is_waited_for(True)

    def FinishInterruption(self, request):
        self._need(self.status == "interrupting")
        self._say(*request.partials)
        words = json.dumps({"error": "interrupted before the tool produced a result"})
        for call in self._open():
            self._answer(call, words, created_at=self.now)
        if self.queue:
            self._take_head()
            self._go("running")
        else:
            self._go("waiting")

    def FinishTurn(self, request):
        self._need(self.status == "running")
        if self.queue:
            self._take_head()
            self._go("running")
        else:
            self._go("waiting")

    def FinishError(self, request):
        self._need(self.status in ("running", "waiting"))
        self._go("error", error=replace(request.error, of_compaction=self.marker is not None))

    # What they have in common

    def _need(self, holds):
        if not holds:
            raise Refused("NotAllowed")

    def _go(self, status, *, marker=None, deadline=None, **error):
        self.status, self.marker, self.deadline = status, marker, deadline
        self.error = error.get("error", self.error)

    def _go_on_if_nobody_is_waited_for(self, has_results):
        still = {call.id for call in self._open()}
        self.consent = [row for row in self.consent if row[0] in still]
        client = self._open(dynamic=True)
        if client or [row for row in self.consent if row[4] is None]:
            self.deadline = self.deadline if client else None
        else:
            self._go("running")
            self._boundary(has_results)

    def _deny(self, rows, words, by):
        ids = [row[0] for row in rows]
        for call in self._open():
            if call.id in ids:
                self._answer(
                    call,
                    json.dumps({"error": words}, ensure_ascii=False),
                    by=by,
                    created_at=self.now,
                )

    def _awaited(self):
        asked = [row[0] for row in self.consent]
        return [c for c in self._open() if c.name in self.tools or c.id in asked]

    def _say(self, *bodies):
        for body in bodies:
            if body.role is Role.ASSISTANT:  # has calls of its own, whatever their ids
                self.consent = []
            self.history.append([len(self.history) + 1, body, False, self.snapshot])
            self.model = body.model_config_id or self.model
            self.effort = body.reasoning_effort or self.effort
            self._history_moved()

    def _history_moved(self):
        self.history_version, self.attempt = self.snapshot, 0
        self.failures = self.deaths = 0
        self._set_retry(None)

    def _set_retry(self, retry):
        if retry != self.retry:
            self.retry, self.retry_version = retry, self.snapshot

    def _open(self, *, dynamic=False):
        active = [row[1] for row in self.history if not row[2]]
        while active and active[-1].role is not Role.ASSISTANT:
            active.pop()
        if not active:
            return []
        said = active[-1].parts
        asked = [row[0] for row in self.consent]
        after = [row[1] for row in self.history if not row[2]][len(active) :]
        for body in after:
            if body.role is Role.TOOL and body.visibility is not Visibility.MODEL:
                said = said + body.parts
        answered = [part.id for part in said if isinstance(part, ToolResultPart)]
        return [
            part
            for part in active[-1].parts
            if isinstance(part, ToolCallPart)
            and not part.provider_executed
            and part.id not in answered
            and (not dynamic or (part.name in self.tools and part.id not in asked))
        ]

    def _close(self, calls, reason):
        for call in calls:
            self._answer(call, json.dumps(reason))
        return bool(calls)

    def _answer(self, call, result, by=None, **when):
        said = ToolResultPart(
            call.id,
            call.name,
            result,
            is_error=True,
            mcp_server_config_id=call.mcp_server_config_id,
            **when,
        )
        self._say(Body(Role.TOOL, (said,), created_by=by, model_config_id=self.model))

    def _take_head(self):
        self._close(self._open(), "interrupted by the promotion of a queued message")
        self._say(self.queue.pop(0)[1].as_body())

    def _boundary(self, has_results):
        steering = [row for row in self.queue if row[2]]
        if has_results and steering and not self._open():
            self._say(*(row[1].as_body() for row in steering))
            self.queue = [row for row in self.queue if not row[2]]

    def _queued(self, request):
        self._need(self.queue)
        for row in self.queue:
            if row[0] == request.queued_id:
                return row
        raise Refused("QueuedNotFound")

    def _link_files(self):
        waiting = [row[1].parts for row in self.queue]
        said = [row[1].parts for row in self.history]
        named = {p.file_id for ps in waiting + said for p in ps if isinstance(p, FilePart)}
        new = named - self.files - {None}
        if new - self.stored_files:
            raise Refused("FilesUnavailable")
        if len(self.files | new) > 50:
            raise Refused("FilesFull")
        self.files |= new
