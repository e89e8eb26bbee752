"""The list of chats, in pages, and the search that filters it.

    title:"release notes" archived:true source:created_by_me,shared_with_me
    status:running,interrupting
    needs_me:true            the chat waits for an answer or for consent, or has failed
    pr_status:draft,open pr:12 pr_title:words repo:owner/name diff_url:"https://…/pull/12"

Terms are separated by spaces and hold all together; what is in double quotes is one piece, and its
spaces and colons mean nothing. A quote with a backslash before it is only a quote: that is how the
words of `search` have a phrase among them, as in search:"\\"red wine\\" -white".
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn
from uuid import UUID

from actors.law.ids import ChatId
from actors.law.states import Status
from adapters.chats.overviews import PAGE_DEFAULT, ListFilter, OverviewStore
from adapters.chats.wire.chats import Chat, ChatCount, listed_chat, with_match
from adapters.http.endpoints import (
    Call,
    Endpoint,
    HttpResponse,
    Parameter,
    flag,
    json_response,
    number,
)
from adapters.http.refusals import HttpError, Validation, query_refused
from adapters.workspaces.store import OwnedWorkspaces

CHATS = "/api/v2/chats"

NUMBER_MAX = 2**31 - 1  # of a limit or offset; clients mean 32 bits
COUNT_MAX = 10_000  # chats; where there are more, the answer says that there are
WORKSPACES_MAX = 25  # asked about at once; more are refused


class ChatListRoutes:
    """Handlers of lists of chats, and of their sizes."""

    def __init__(
        self,
        overviews: OverviewStore,
        workspaces: OwnedWorkspaces,
        *,
        organization: UUID,
        sharing: bool = True,
    ) -> None:
        self._overviews = overviews
        self._workspaces = workspaces
        self._organization = organization
        self._sharing = sharing

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=CHATS,
                handle=self.list,
                summary="Your chats, what is pinned first, then what was touched last.",
                tag="chats",
                parameters=(
                    Parameter(name="q", help='terms such as title:"two words" needs_me:true'),
                    Parameter(name="label", help="key:value; several hold together"),
                    Parameter(
                        name="excerpts", type=bool, help="say where q=search:… found something"
                    ),
                    Parameter(name="limit", type=int, help=f"0 or none: {PAGE_DEFAULT}"),
                    Parameter(name="offset", type=int, help="how many to leave out"),
                    Parameter(name="after_id", type=UUID, help="the last chat of the page before"),
                ),
                answers={200: list[Chat]},
            ),
            Endpoint(
                method="GET",
                path=f"{CHATS}/count",
                handle=self.count,
                summary=f"How many chats such a list has; no more than {COUNT_MAX} are counted.",
                tag="chats",
                parameters=(
                    Parameter(name="q", help="terms as of a list, such as needs_me:true"),
                    Parameter(name="label", help="key:value; several hold together"),
                ),
                answers={200: ChatCount},
            ),
            Endpoint(
                method="GET",
                path=f"{CHATS}/by-workspace",
                handle=self.by_workspace,
                summary="Of each workspace the chat that was touched last.",
                tag="chats",
                parameters=(Parameter(name="workspace_ids", help="ids with commas between them"),),
                answers={200: dict[str, UUID]},
            ),
        )

    async def list(self, call: Call) -> HttpResponse:
        wanted = search_of(
            call.one("q") or "",
            labels=_labels(call),
            limit=number(call, "limit", maximum=NUMBER_MAX) or PAGE_DEFAULT,
            offset=number(call, "offset", maximum=NUMBER_MAX),
            after=_after(call),
            sharing=self._sharing,
        )
        wants_excerpts = flag(call, "excerpts")
        found = await self._overviews.page(call.user.id, wanted)
        chats = [listed_chat(chat, organization=self._organization) for chat in found]
        words = wanted.search
        if wants_excerpts and words is not None and found:
            ids = [chat.row.id for chat in found]
            excerpts = await self._overviews.excerpts(ids, words)
            chats = [with_match(chat, excerpts.get(ChatId(chat.id))) for chat in chats]
        return json_response(200, chats)

    async def count(self, call: Call) -> HttpResponse:
        wanted = search_of(
            call.one("q") or "",
            labels=_labels(call),
            limit=COUNT_MAX + 1,
            sharing=self._sharing,
        )
        count = await self._overviews.count(call.user.id, wanted)
        return json_response(200, ChatCount(min(count, COUNT_MAX), count > COUNT_MAX))

    async def by_workspace(self, call: Call) -> HttpResponse:
        asked = (call.one("workspace_ids") or "").split(",")
        wanted = [text.strip() for text in asked if text.strip()]
        if len(wanted) > WORKSPACES_MAX:
            raise query_refused("workspace_ids", f"holds {len(wanted)}, at most {WORKSPACES_MAX}")
        ids = [_uuid("workspace_ids", text) for text in wanted]
        caller = call.user
        chats = await self._workspaces.chats(ids, caller.id, is_admin=caller.is_admin)
        return json_response(200, chats)


def _labels(call: Call) -> Sequence[str]:
    return [value for key, value in call.query if key == "label"]


def _after(call: Call) -> ChatId | None:
    text = call.one("after_id")
    return ChatId(_uuid("after_id", text)) if text else None


def _uuid(name: str, text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise query_refused(name, f"{text[:80]!r} is not a UUID") from None


QUERY_CHARACTERS_MAX = 4_096  # of a search; a longer one is refused

_TRUTH = {word: word in ("true", "t", "1") for word in ("true", "t", "1", "false", "f", "0")}
_MINE, _THEIRS = "created_by_me", "shared_with_me"
_STATUSES = {status.value: status for status in Status}
_PR_STATUSES = ("draft", "open", "merged", "closed")
_WITHOUT_SEARCH = ("title", "pr_title", "pr")  # `search` looks there, too
_REPEATABLE = ("source", "status", "pr_status")
_KEYS = (
    *("title", "archived", "has_unread", "needs_me", "search", "source", "status"),
    *("pr_status", "pr", "pr_title", "repo", "diff_url"),
)
# Quoted, or not. A quote that nobody closes is closed by the end.
_PIECE = re.compile(r'"((?:\\"|[^"])*)"?|((?:\\"|[^"])+)')
_QUOTE = re.compile(r'(\\?)"')


def search_of(
    query: str,
    *,
    labels: Sequence[str] = (),
    after: ChatId | None = None,
    limit: int,
    offset: int = 0,
    sharing: bool = True,
) -> ListFilter:
    """Read a search. Refused if it makes no sense. Without `sharing` no chat is shared."""
    terms = _terms(query)
    for key, values in terms.items():
        if len(values) > 1 and key not in _REPEATABLE:
            _refuse(f"is given {len(values)} times, give it once", key)
    one = {key: values[0] for key, values in terms.items()}
    beside = [key for key in _WITHOUT_SEARCH if key in terms]
    if "search" in terms and beside:
        _refuse(f"cannot be combined with {beside[0]}", "search")
    sources = _listed(terms, "source", (_MINE, _THEIRS)) or (_MINE,)
    return ListFilter(
        mine=_MINE in sources,
        theirs=sharing and _THEIRS in sources,
        archived=_truth(one, "archived") or False,
        statuses=tuple(_STATUSES[name] for name in _listed(terms, "status", tuple(_STATUSES))),
        needs_me=_truth(one, "needs_me"),
        unread=_truth(one, "has_unread"),
        title=one.get("title"),
        search=_words(one),
        pr_statuses=_listed(terms, "pr_status", _PR_STATUSES),
        pr=_pull_request(one),
        pr_title=one.get("pr_title"),
        repo=one.get("repo"),
        diff_url=_address(one),
        labels=dict(_label(label) for label in labels),
        after=after,
        limit=limit,
        offset=offset,
    )


def _terms(query: str) -> Mapping[str, list[str]]:
    """Return the terms of a search as {key: the values that it is given}."""
    if len(query) > QUERY_CHARACTERS_MAX:
        _refuse(f"{len(query)} characters are too many, there can be {QUERY_CHARACTERS_MAX}")
    if "\0" in query:
        _refuse("U+0000 is in no chat")
    terms: dict[str, list[str]] = {}
    for term in _split(query, " "):
        pieces = list(_split(term, ":", keeps_empty=True))
        if len(pieces) == 1:
            _refuse(f"{term[:80]!r} is no term, write key:value")
        if len(pieces) > 2:
            _refuse(f"{term[:80]!r} has more than one colon, put its value in double quotes")
        key, value = _unquoted(pieces[0]).lower(), pieces[1]
        if not (key and value):
            _refuse(f"{term[:80]!r} must not begin or end with a colon")
        if key not in _KEYS:
            _refuse(f"is none of {', '.join(_KEYS)}", key[:80])
        terms.setdefault(key, []).append(_unquoted(value))
    return terms


def _split(text: str, mark: str, *, keeps_empty: bool = False) -> Iterator[str]:
    """Split a text at each `mark` outside of quotes, which are left in it."""
    piece = ""
    for match in _PIECE.finditer(text):
        if match[2] is None:
            piece += match[0]
            continue
        head, *rest = match[2].split(mark)
        piece += head
        for following in rest:
            if piece or keeps_empty:
                yield piece
            piece = following
    if piece or keeps_empty:
        yield piece


def _unquoted(piece: str) -> str:
    return _QUOTE.sub(lambda quote: '"' if quote[1] else "", piece)


def _truth(one: Mapping[str, str], key: str) -> bool | None:
    if key not in one:
        return None
    truth = _TRUTH.get(one[key].lower())
    return _refuse(f"is true or false, not {one[key][:80]!r}", key) if truth is None else truth


def _words(one: Mapping[str, str]) -> str | None:
    words = one.get("search")
    if words is not None and not words.strip():
        _refuse("is empty", "search")
    return words


def _pull_request(one: Mapping[str, str]) -> int | None:
    text = one.get("pr")
    if text is None:
        return None
    if not re.fullmatch("[0-9]{1,10}", text, re.ASCII) or not 0 < int(text) <= NUMBER_MAX:
        _refuse(f"is a whole number above 0, not {text[:80]!r}", "pr")
    return int(text)


def _address(one: Mapping[str, str]) -> str | None:
    text = one.get("diff_url")
    if text is not None and not re.match("https?://[^/]", text, re.IGNORECASE):
        _refuse("is an address that begins with http:// or https://", "diff_url")
    return text


def _listed(terms: Mapping[str, list[str]], key: str, known: Sequence[str]) -> tuple[str, ...]:
    values = [value.lower() for text in terms.get(key, ()) for value in text.split(",")]
    for value in values:
        if value not in known:
            _refuse(f"is one of {', '.join(known)}, not {value[:80]!r}", key)
    return tuple(dict.fromkeys(values))


def _label(text: str) -> tuple[str, str]:
    key, _, value = text.partition(":")
    if not key or not value or "\0" in text:
        raise _refused("label", f"{text[:80]!r} is not key:value")
    return key, value


def _refuse(fact: str, term: str = "q") -> NoReturn:
    """Refuse a search because of one term, or because of the whole text ("q")."""
    raise _refused(term, fact)


def _refused(field: str, fact: str) -> HttpError:
    return HttpError(400, "Invalid query parameters.", validations=(Validation(field, fact),))
