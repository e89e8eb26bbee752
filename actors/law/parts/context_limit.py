"""The context limit that a provider tells among its metadata, under whatever name. Pure."""

import re
from collections.abc import Iterable, Mapping

_NAMES = frozenset(
    {
        "contextlimit",
        "contextwindow",
        "contextlength",
        "maxcontext",
        "maxcontexttokens",
        "maxinputtokens",
        "maxinputtoken",
        "inputtokenlimit",
    }
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WITH = {  # a word beside "context", and those of which one has to be there too; none: it is enough
    "limit": frozenset[str](),
    "window": frozenset({"size", "max"}),
    "length": frozenset({"max"}),
    "token": frozenset({"max", "limit"}),
    "tokens": frozenset({"max", "limit"}),
}
DIGITS_MAX = 20  # a longer text is no number of tokens
DEPTH_MAX = 8  # what lies deeper is not looked at


def context_limit(metadata: object) -> int | None:
    """The largest positive number under a name that means a context limit."""
    return max(_found(metadata, 0), default=None)


def means_context_limit(name: str) -> bool:
    if re.sub(r"[^a-z0-9]", "", name.lower()) in _NAMES:
        return True
    words = {word.lower() for word in _WORDS.findall(name)}
    return "context" in words and any(
        word in words and (not needed or needed & words) for word, needed in _WITH.items()
    )


def _found(value: object, depth: int) -> Iterable[int]:
    if depth > DEPTH_MAX:
        return
    if isinstance(value, Mapping):
        for name, each in value.items():
            if isinstance(name, str) and means_context_limit(name):
                yield from _number(each)
            yield from _found(each, depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _found(each, depth + 1)


def _number(value: object) -> Iterable[int]:
    if isinstance(value, bool):
        return
    if isinstance(value, str) and len(value) < DIGITS_MAX and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, int | float) and 0 < value < 1e15 and value == int(value):
        yield int(value)
