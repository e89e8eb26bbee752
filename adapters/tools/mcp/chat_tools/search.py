"""Tools too many to be told to the model at once: it is told their names, and finds the rest. Pure.

What was found is read off the history, so a crash forgets nothing, and what is summarised is
forgotten with it. Tokens are estimated: schemas are mostly punctuation.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actors.law.chat import Message
from actors.law.parts.json_text import parsed
from actors.law.parts.message import ToolResultPart
from actors.prompts.selecting import model_rows

FIND_TOOLS = "find_tools"
BYTES_PER_TOKEN = 2.5
SHARE = 10  # schemas may take a tenth of the window, and the catalogue too
WINDOW_UNKNOWN = 128_000  # tokens of a model whose window is not known
CATALOGUE_TOKENS_MAX = 4_000  # beyond it says less of each tool
SUMMARY_CHARACTERS = 80

MATCHES_MAX = 20  # of one call; the best
QUERIES_MAX = 10  # of one call; more are not looked at
QUERY_WORDS_MAX = 16  # likewise
NAMES_MAX = 40  # likewise
SEARCHED_CHARACTERS = 4_096  # of a schema; words that stand further on are not found

_EXACT, _WITHIN, _DESCRIBED, _ELSEWHERE = 8, 5, 2, 1
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class DeferredTool:
    """A tool of which the model is not told everything."""

    name: str
    server: str
    description: str
    schema: str

    @property
    def tokens(self) -> float:
        said = (self.name, self.description, self.schema)
        return sum(len(text.encode()) for text in said) / BYTES_PER_TOKEN

    @property
    def summary(self) -> str:
        return " ".join(self.description.split())[:SUMMARY_CHARACTERS]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The tools that a search found, and the names of those whose schemas the model is told."""

    matches: tuple[DeferredTool, ...]
    activated: tuple[str, ...]


def schema_tokens_max(window: int | None) -> float:
    """Return how many tokens of a model's window schemas may take."""
    return (window or WINDOW_UNKNOWN) / SHARE


def are_too_many(tools: Iterable[DeferredTool], window: int | None) -> bool:
    return sum(tool.tokens for tool in tools) > schema_tokens_max(window)


# what the model is told


def catalogue(tools: Sequence[DeferredTool], window: int | None) -> str:
    """Return the catalogue of tools, as much of it as there is room for."""
    room = min(CATALOGUE_TOKENS_MAX, schema_tokens_max(window)) * BYTES_PER_TOKEN
    tries = (
        _by_server(tools, lambda tool: f"- {tool.name}: {tool.summary}".rstrip(": ")),
        _by_server(tools, lambda tool: f"- {tool.name}"),
        "\n".join(f"{server}: {len(own)} tools" for server, own in _grouped(tools).items()),
    )
    total = f"{len(tools)} tools of {len(_grouped(tools))} servers"
    return next((text for text in tries if len(text.encode()) <= room), total)


def _by_server(tools: Sequence[DeferredTool], line: Callable[[DeferredTool], str]) -> str:
    return "\n".join(
        "\n".join([f"{server}:", *map(line, own)]) for server, own in _grouped(tools).items()
    )


def _grouped(tools: Sequence[DeferredTool]) -> Mapping[str, list[DeferredTool]]:
    groups: dict[str, list[DeferredTool]] = {}
    for tool in tools:
        groups.setdefault(tool.server, []).append(tool)
    return dict(sorted(groups.items()))


# what it finds


def find(
    tools: Sequence[DeferredTool], queries: Sequence[str], names: Sequence[str], window: int | None
) -> SearchResult:
    """Find tools: exact names first, then by score, then by name. Those whose schemas fit into the
    window are activated."""
    known = {tool.name: tool for tool in tools}
    exact = [known[name] for name in names[:NAMES_MAX] if name in known]
    scores: dict[str, int] = {}
    searched = [_searched(tool) for tool in tools] if queries else []
    for query in queries[:QUERIES_MAX]:
        for name, score in _scored(searched, query):
            scores[name] = max(score, scores.get(name, 0))
    ranked = sorted(scores, key=lambda name: (-scores[name], name))
    matches = list(dict.fromkeys([*exact, *(known[name] for name in ranked)]))[:MATCHES_MAX]
    return SearchResult(tuple(matches), tuple(_fitting(matches, schema_tokens_max(window))))


def _fitting(tools: Iterable[DeferredTool], room: float) -> Iterator[str]:
    for tool in tools:
        if tool.tokens <= room:
            room -= tool.tokens
            yield tool.name


@dataclass(frozen=True, slots=True)
class _Searched:
    """The words of a tool, in small letters."""

    tool: DeferredTool
    name: str
    words: frozenset[str]  # of the name
    description: str
    rest: str


def _searched(tool: DeferredTool) -> _Searched:
    name = tool.name.lower()
    rest = f"{tool.server}\n{tool.schema[:SEARCHED_CHARACTERS]}".lower()
    return _Searched(tool, name, frozenset(_words(name)), tool.description.lower(), rest)


def _scored(tools: Sequence[_Searched], query: str) -> Iterator[tuple[str, int]]:
    server, rest = _named_server({each.tool.server for each in tools}, query)
    wanted = _words(rest)[:QUERY_WORDS_MAX]
    for each in tools:
        if server is not None and each.tool.server != server:
            continue
        score = sum(_score(each, word) for word in wanted)
        if score or (server is not None and not wanted):
            yield each.tool.name, score


def _named_server(servers: Iterable[str], query: str) -> tuple[str | None, str]:
    """Split a query into the server that it names and its words. `server: words` looks at that
    server alone; of several names that fit the longest is meant."""
    longest_first = sorted(servers, key=lambda name: (-len(name), name))
    for same in (str, str.casefold):
        for server in longest_first:
            if same(query).startswith(same(f"{server}:")):
                return server, query[len(server) + 1 :]
    return None, query


def _score(searched: _Searched, word: str) -> int:
    if word in searched.words:
        return _EXACT
    if word in searched.name:
        return _WITHIN
    if word in searched.description:
        return _DESCRIBED
    return _ELSEWHERE if word in searched.rest else 0


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


# what it has found


def activated(
    history: Sequence[Message], tools: Sequence[DeferredTool], window: int | None
) -> frozenset[str]:
    """Return the tools whose schemas the model is told: those found or called last, as far as there
    is room, and the last one in any case."""
    known = {tool.name: tool for tool in tools}
    room = schema_tokens_max(window)
    kept: set[str] = set()
    for name in dict.fromkeys(_mentioned(history, known)):
        room -= known[name].tokens
        if kept and room < 0:
            break
        kept.add(name)
    return frozenset(kept)


def _mentioned(history: Sequence[Message], known: Mapping[str, DeferredTool]) -> Iterator[str]:
    """The newest first; those whose call went wrong come last."""
    wrong: list[str] = []
    for part in _results(history):
        if part.name == FIND_TOOLS and not part.is_error:
            yield from (name for name in _activated_by(part) if name in known)
        elif part.name in known and part.is_error:
            wrong.append(part.name)
        elif part.name in known:
            yield part.name
    yield from wrong


def _results(history: Sequence[Message]) -> Iterator[ToolResultPart]:
    for row in reversed(model_rows(history)):
        for part in reversed(row.body.parts):
            if isinstance(part, ToolResultPart) and not part.provider_executed:
                yield part


def _activated_by(part: ToolResultPart) -> Sequence[str]:
    try:
        said: Any = parsed(part.result)
    except ValueError:
        return ()
    names = said.get("activated") if isinstance(said, dict) else None
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else ()
