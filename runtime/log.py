"""A thin front over stdlib logging, without any set-up: adapters decide what becomes of entries.

An entry is a dotted name in the past tense, a level and fields. The record carries the fields as
`record.fields`. A field `error` that is an exception becomes the record's `exc_info` too.
"""

import logging
from dataclasses import dataclass, field
from typing import Any, Literal

LOGGER_NAME = "events"

Level = Literal["debug", "info", "warning", "error"]

_LOGGER = logging.getLogger(LOGGER_NAME)
_NUMBERS: dict[Level, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


@dataclass(frozen=True, slots=True)
class BoundLog:
    """A log whose entries all carry the bound fields."""

    bound: dict[str, Any] = field(default_factory=dict)

    def bind(self, **fields: Any) -> "BoundLog":
        """Return a log with more fields; a later value of a field replaces an earlier one."""
        return BoundLog({**self.bound, **fields})

    def emit(self, event: str, level: Level, **fields: Any) -> None:
        """Write one entry, if anyone listens at this level."""
        number = _NUMBERS[level]
        if not _LOGGER.isEnabledFor(number):
            return
        fields = {**self.bound, **fields}
        error = fields.get("error")
        exc_info = error if isinstance(error, BaseException) else None
        _LOGGER.log(number, event, extra={"fields": fields}, exc_info=exc_info)


_ROOT = BoundLog()


def bind(**fields: Any) -> BoundLog:
    """Return a log whose entries all carry these fields."""
    return _ROOT.bind(**fields)


def emit(event: str, level: Level, **fields: Any) -> None:
    """Write one entry with nothing bound."""
    _ROOT.emit(event, level, **fields)
