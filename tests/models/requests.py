"""Random requests, sensible and otherwise, for every model of the law and of the store.

`request_for(draw, stored)` draws what may be asked of one chat: mostly what its state allows, with
ids that exist, sometimes not. `new_chat(draw)` draws what a chat begins with. Ids of people,
models, files and holders come from small pools, so that they meet again.

`sane=True` keeps steps to what a worker would commit (results of open calls first, then the next
assistant message); without it a step is any messages at all.
"""

from contextlib import contextmanager
from datetime import UTC, datetime
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.control import BuildContext
from hypothesis.internal.conjecture.data import ConjectureData

from actors.law import requests as ask
from actors.law.chat import Body, ChatError, RetryState, Role, UserMessage, Verdict, Visibility
from actors.law.closing import unanswered_calls, unanswered_dynamic_calls
from actors.law.ids import (
    ChatId,
    FileId,
    Holder,
    MessageId,
    ModelConfigId,
    QueuedId,
    RunnerId,
    UserId,
    WorkerId,
)
from actors.law.parts import message as parts
from actors.law.parts.message import TokenUsage
from actors.law.table import REQUESTS, leads_to

USERS = tuple(UserId(UUID(int=100 + n)) for n in range(3))
MODELS = tuple(ModelConfigId(UUID(int=200 + n)) for n in range(3))
FILES = tuple(FileId(UUID(int=300 + n)) for n in range(60))  # more than a chat can hold
LOST_FILE = FileId(UUID(int=399))  # referred to, but never stored
HOLDERS = tuple(
    Holder(WorkerId(UUID(int=400 + n % 2)), RunnerId(UUID(int=410 + n))) for n in range(3)
)
FURNITURE = (
    ask.SAME_OPTIONS,
    ask.SAME_OPTIONS,
    ask.ChatOptions("plan"),
    ask.ChatOptions("", ()),
    ask.ChatOptions(mcp_server_ids=(UUID(int=420), UUID(int=421))),
)
DYNAMIC_TOOLS = ("click", "type")
TOOLS = ("shell", "read", "chat_summarized", *DYNAMIC_TOOLS)
BEGINNING = datetime(2030, 1, 1, tzinfo=UTC)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)

texts = st.sampled_from(["", "a", "so", "\n", "ä\U0001f3ad", "\x00", "\ue000", "'; --", "{}"])
words = st.sampled_from(["", "a", "low", "high", "ä\n", "\x00", "'; --", "\U0001f3ad"])
json_texts = st.sampled_from(
    ["null", "{}", '{"b": 1, "a": [1, 2]}', ' "x"', "1e400", '"\\u0000\\ud800"', "[[]]"]
).map(parts.JsonText)
not_json = st.sampled_from(["", "{", "NaN", "nope", '{"a": 1'])
moments = st.sampled_from([BEGINNING, BEGINNING.replace(year=2090, microsecond=1)])
counts = st.sampled_from([1, 7, 2**31 - 1])
users = st.sampled_from(USERS)
models = st.none() | st.sampled_from(MODELS)
efforts = st.none() | st.sampled_from(["low", "high"])
files = st.sampled_from(FILES)
flags = st.booleans()
maybe_uuid = st.none() | st.sampled_from([UUID(int=500), UUID(int=501)])


def _maybe(strategy):
    return st.none() | strategy


# What is said

text_parts = st.builds(parts.TextPart, texts, _maybe(json_texts), flags)
file_parts = st.builds(
    parts.FilePart, st.just("text/plain"), name=words, file_id=_maybe(files), data=_maybe(words)
)
LOST_FILE_PART = parts.FilePart("text/plain", file_id=LOST_FILE)
call_parts = st.builds(
    parts.ToolCallPart,
    st.sampled_from("abc"),
    st.sampled_from(TOOLS),
    args=_maybe(json_texts),
    provider_executed=flags,
    hook_rewritten=flags,
    mcp_server_config_id=maybe_uuid,
    parsed_commands=st.lists(st.tuples(words, words), max_size=2).map(tuple),
    created_at=_maybe(moments),
    provider_metadata=_maybe(json_texts),
)
result_parts = st.builds(
    parts.ToolResultPart,
    st.sampled_from("abcz"),
    st.sampled_from(TOOLS),
    json_texts,
    is_error=flags,
    is_media=flags,
    provider_executed=flags,
    mcp_server_config_id=maybe_uuid,
    created_at=_maybe(moments),
    provider_metadata=_maybe(json_texts),
)
quiet_parts = st.one_of(
    text_parts,
    st.builds(parts.ReasoningPart, texts, _maybe(moments), _maybe(moments), _maybe(json_texts)),
    st.builds(parts.SourcePart, words, words, words, _maybe(json_texts)),
    file_parts,
    st.builds(parts.FileReferencePart, words, counts, counts, texts),
    st.builds(parts.ContextFilePart, words, texts, flags, maybe_uuid, words, words),
    st.builds(parts.SkillPart, words, words, words, words),
    st.builds(parts.HookContextPart, texts),
    st.builds(parts.HookNoticePart, texts),
)
any_parts = st.one_of(quiet_parts, call_parts, result_parts)

usages = st.sampled_from(
    [TokenUsage(), TokenUsage(1, 2, 3, 4, 5, 6), TokenUsage(output_tokens=2**31 - 1)]
)


def bodies(roles=tuple(Role), said=any_parts, **fixed):
    fields = {
        "visibility": st.sampled_from(Visibility),
        "compressed": flags,
        "created_by": _maybe(users),
        "model_config_id": models,
        "reasoning_effort": efforts,
        "usage": usages,
        "context_limit": _maybe(counts),
        "runtime_ms": _maybe(counts),
    }
    some = st.lists(said, max_size=3).map(tuple)
    return st.builds(Body, st.sampled_from(roles), some, **(fields | fixed))


any_rows = st.lists(bodies(), max_size=3).map(tuple)
quiet_rows = st.lists(bodies((Role.SYSTEM, Role.USER), quiet_parts), max_size=2).map(tuple)
_user_parts = st.tuples(text_parts, st.lists(st.one_of(text_parts, file_parts), max_size=2)).map(
    lambda said: [said[0], *said[1]]
)
_first_rows = bodies((Role.USER,), text_parts, visibility=st.just(Visibility.BOTH))
_hook_rows = bodies((Role.USER,), text_parts, visibility=st.just(Visibility.MODEL))


def user_message(draw):
    said = draw(_user_parts)
    if chance(draw) and chance(draw):
        said = [*said, LOST_FILE_PART]
    return UserMessage(tuple(said), draw(users), draw(models), draw(efforts))


def new_chat(draw, id=ChatId(UUID(int=1))):  # noqa: B008  # an id is a value
    """What a chat begins with, and the tools of its client."""
    said = (*draw(quiet_rows), draw(_first_rows))
    tools = pick(draw, ((), DYNAMIC_TOOLS[:1], DYNAMIC_TOOLS, DYNAMIC_TOOLS, DYNAMIC_TOOLS))
    new = ask.NewChat(id, draw(users), dynamic_tools=tuple(map(ask.DynamicTool, tools)))
    return ask.CreateChat(new, said)


# What a worker would commit


def sane_step(draw, stored):
    """Results of what is open, or else a new assistant message, or a compaction."""
    calls = unanswered_calls(stored.tail)
    if calls:
        return _results_of(draw, calls, least=1)
    return _compaction(draw) if chance(draw) else _assistant_step(draw)


def sane_partials(draw, stored):
    calls = unanswered_calls(stored.tail)
    if calls:
        return _results_of(draw, calls)
    return _assistant_step(draw) if draw(flags) else ()


def _results_of(draw, calls, least=0):
    answered = shuffled(draw, calls)[pick(draw, range(len(calls) + 1 - least)) :]
    said = [parts.ToolResultPart(call.id, call.name, draw(json_texts)) for call in answered]
    if draw(flags):
        rows = [Body(Role.TOOL, (part,)) for part in said]
    else:
        rows = [Body(Role.TOOL, tuple(said))] if said else []
    return (*rows, draw(_hook_rows)) if chance(draw) else tuple(rows)


def _assistant_step(draw):
    said = [draw(quiet_parts)] if draw(flags) else []
    for id in "abc"[pick(draw, range(4)) :]:
        name, provider = pick(draw, TOOLS), pick(draw, (False, False, True))
        server = draw(maybe_uuid)
        said.append(
            parts.ToolCallPart(id, name, provider_executed=provider, mcp_server_config_id=server)
        )
        if provider and draw(flags):
            said.append(parts.ToolResultPart(id, name, draw(json_texts), provider_executed=True))
    row = Body(Role.ASSISTANT, tuple(said), model_config_id=draw(models), usage=draw(usages))
    calls = unanswered_calls((row,))
    at_once = _results_of(draw, calls) if calls and chance(draw) else ()
    return (row, *at_once)


def _compaction(draw):
    call = parts.ToolCallPart("c", "chat_summarized", draw(json_texts))
    result = parts.ToolResultPart("c", "chat_summarized", draw(json_texts))
    seen_by, pressed = Visibility, {"compressed": True}
    return (
        Body(Role.USER, (draw(text_parts),), visibility=seen_by.MODEL, **pressed),
        Body(Role.ASSISTANT, (call,), visibility=seen_by.USER, **pressed),
        Body(Role.TOOL, (result,), **pressed),
    )


# What is asked

errors = st.builds(
    ChatError,
    texts,
    kind=st.sampled_from(["generic", "timeout"]),
    provider=_maybe(words),
    retryable=flags,
    status_code=_maybe(st.integers(100, 599)),
    detail=_maybe(texts),
)
retries = st.builds(
    RetryState,
    st.sampled_from([1, 2, 24, 25, 0]),
    st.sampled_from([0, 1000, 2**31]),
    st.sampled_from(["overloaded", "timeout", "quota", " "]),
    moments,
    kind=_maybe(words),
    provider=_maybe(words),
    status_code=_maybe(st.integers(100, 599)),
)

# What leads through a turn; drawn more often than what ends it or is out of place.
_GOING_ON = (
    ask.CommitStep,
    ask.CompleteRequiresAction,
    ask.FinishInterruption,
    ask.RequestCompaction,
    ask.ReconcileInvalidState,
)
NO_SUCH_ID = 10**9


@st.composite
def requests_for(draw, stored, message_ids=(), *, sane=True, edits=True):
    """As `request_for`, where a strategy is wanted."""
    return request_for(draw, stored, message_ids, sane=sane, edits=edits)


def request_for(draw, stored, message_ids=(), *, sane=True, edits=True):
    """One request to the chat `stored`. `message_ids`: of its history, for edits.

    `edits=False` leaves edits out: in a bundle they stand before all that says something.
    """
    asked = [kind for kind in REQUESTS if edits or kind is not ask.EditMessage]
    allowed = [kind for kind in asked if leads_to(stored.state, kind)]
    likely = [kind for kind in allowed if kind in _GOING_ON] or allowed
    if unanswered_dynamic_calls(stored) and ask.EnterRequiresAction in allowed:
        likely = [*likely, *[ask.EnterRequiresAction] * 4]
    if unanswered_dynamic_calls(stored) and ask.CompleteRequiresAction in allowed:
        likely = [*likely, *[ask.CompleteRequiresAction] * 4]
    choices = [likely] * 3 + [allowed] * 6 + [asked]
    if stored.chat.open_approvals and ask.DecideApproval in allowed:
        choices += [[*[ask.DecideApproval] * 5, ask.ExpireApprovals]] * 5
    kind = pick(draw, pick(draw, choices))
    return _of_kind(draw, kind, stored, tuple(message_ids), sane)


def _of_kind(draw, kind, stored, message_ids, sane):
    sane = sane or draw(flags)
    ids = tuple(row.id for row in stored.queue)
    match kind:
        case ask.SetArchived:
            return kind(draw(flags))
        case ask.SendMessage:
            return kind(
                user_message(draw), pick(draw, tuple(ask.BusyBehaviour)), pick(draw, FURNITURE)
            )
        case ask.EditMessage:
            id = MessageId(pick(draw, (*message_ids, NO_SUCH_ID)))
            return kind(id, user_message(draw), draw(quiet_rows if sane else any_rows))
        case ask.RetryTurn:
            return kind(draw(models), draw(efforts))
        case ask.DeleteQueued | ask.PromoteQueued:
            return kind(QueuedId(pick(draw, (*ids, NO_SUCH_ID))))
        case ask.EditQueued:
            return kind(QueuedId(pick(draw, (*ids, NO_SUCH_ID))), user_message(draw))
        case ask.ReorderQueued:
            return kind(_order(draw, ids))
        case ask.Interrupt | ask.CancelRequiresAction:
            return kind(draw(texts)) if draw(flags) else kind()
        case ask.CompleteRequiresAction:
            then = draw(quiet_rows if sane else any_rows)
            answers = _answers(draw, unanswered_dynamic_calls(stored))
            return kind(answers, draw(users), draw(models), then)
        case ask.DecideApproval:
            ids = [approval.tool_call_id for approval in stored.chat.approvals]
            id = pick(draw, (*ids, *ids, "a", "nobody's"))
            verdict, by, words = pick(draw, tuple(Verdict)), draw(users), draw(texts)
            seen = [approval.asked_at for approval in stored.chat.approvals]
            at = pick(draw, (None, None, LONG_AGO, *seen))
            grants = () if verdict is Verdict.DENY else pick(draw, ((), ("local(x)", "local(y)")))
            return kind(id, verdict, by, words, at, grants)
        case ask.EnterRequiresAction:
            return kind(_asks(draw, unanswered_calls(stored.tail)), pick(draw, (0, 0.5, 3, 10**7)))
        case ask.ReconcileInvalidState:
            return kind(draw(errors)) if draw(flags) else kind()
        case ask.Acquire:
            return kind(pick(draw, HOLDERS), draw(flags))
        case ask.TakeUp:
            return kind(pick(draw, HOLDERS))
        case ask.RecordRetryState:
            return kind(draw(retries))
        case ask.CommitStep:
            return kind(sane_step(draw, stored) if sane else draw(any_rows), draw(flags))
        case ask.FinishInterruption:
            return kind(sane_partials(draw, stored) if sane else draw(any_rows))
        case ask.FinishError:
            return kind(draw(errors))
        case _:
            return kind()


def _asks(draw, calls):
    """About some of the calls, each once; now and then about one that is not there."""
    names = {call.id: call.name for call in calls}
    some = shuffled(draw, list(names))[pick(draw, range(len(names) + 1)) :]
    asks = tuple(ask.CallToApprove(id, names[id], draw(json_texts)) for id in some)
    return (*asks, ask.CallToApprove("nobody's", "shell", "{}")) if chance(draw) else asks


def _order(draw, ids):
    more = pick(draw, (ids[:1], (QueuedId(NO_SUCH_ID),))) if chance(draw) else ()
    return (*shuffled(draw, ids), *more)


def _answers(draw, pending):
    ids = shuffled(draw, [call.id for call in pending])
    outputs = [json_texts]
    if pick(draw, range(2)) == 1:  # something is wrong with them, or several things
        ids = [pick(draw, (*ids, "nobody's")) for _ in range(pick(draw, range(4)))]
        outputs = [json_texts, json_texts, not_json]
    return tuple(ask.DynamicResult(id, draw(pick(draw, outputs)), draw(flags)) for id in ids)


# Choices, with strategies that are built once: building them anew would take most of the time

_INDICES = [st.integers(0, n) for n in range(64)]
_ORDERS = [st.permutations(range(n)) for n in range(32)]
_one_in_ten = st.sampled_from([False] * 9 + [True])


def pick(draw, choices):
    return choices[draw(_INDICES[len(choices) - 1])]


def shuffled(draw, things):
    return [things[n] for n in draw(_ORDERS[len(things)])]


def chance(draw):
    """One in ten."""
    return draw(_one_in_ten)


@contextmanager
def drawing(random):
    """A `draw` for use outside of Hypothesis: each choice is as likely as the others, each time."""
    data = ConjectureData(random=random)
    with BuildContext(data, wrapped_test=drawing):
        yield data.draw
