"""The log: entries on standard error, as text for a person or as JSON for a machine."""

import logging
import sys
from collections.abc import MutableMapping
from functools import partial
from typing import Any

import structlog

from adapters.settings.kinds import LogFormat

# Without locals, which would be shown otherwise: messages and passwords are among them.
_TRACEBACKS = structlog.processors.ExceptionRenderer(
    structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
)
FIRST = ("timestamp", "level", "event")


def set_up(form: LogFormat, level: str, *, process: int | None = None) -> None:
    """Send everything that goes through the standard logging to standard error, one line each.

    `process` is our number among several processes, and stands in each line.
    """
    as_text = form == "text" or (form == "auto" and sys.stderr.isatty())
    last: list[structlog.typing.Processor] = (
        [structlog.processors.format_exc_info, _text]
        if as_text
        else [_TRACEBACKS, structlog.processors.JSONRenderer(default=str)]
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            *([] if process is None else [partial(_numbered, process)]),
            _fields,
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
        ],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())


def _fields(
    _logger: Any, _method: str, entry: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Add what `runtime.log` put into the record."""
    fields = dict(getattr(entry["_record"], "fields", {}))
    if isinstance(fields.get("error"), BaseException):
        fields["error"] = repr(fields["error"])  # the record's exc_info has the rest
    entry.update(fields)
    return entry


def _numbered(
    process: int, _logger: Any, _method: str, entry: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    entry["process"] = process
    return entry


def _text(_logger: Any, _method: str, entry: MutableMapping[str, Any]) -> str:
    traceback = entry.pop("exception", None)
    head = " ".join(str(entry.pop(name)) for name in FIRST)
    line = " ".join([head, *(f"{name}={_value(value)}" for name, value in entry.items())])
    return _harmless(f"{line}\n{traceback}" if traceback else line)


def _harmless(text: str) -> str:
    """Return an entry without what a terminal would obey: models and peers are quoted in it."""
    return "".join(
        each if each.isprintable() or each == "\n" else repr(each)[1:-1] for each in text
    )


def _value(value: Any) -> str:
    text = str(value)
    return repr(text) if not text or any(c in text for c in ' "=\n') else text
