"""An answer that fits a JSON Schema: how a model is asked for it, and looked at.

Models of all vendors are asked in words, and their answer is looked at here. A model whose answer
does not fit is told what is wrong with it, `CORRECTIONS_MAX` times.
"""

import errno
import json
import os
import re
import select
import signal
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Never

from jsonschema import SchemaError, exceptions, validators  # type: ignore[import-untyped]
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012, specification_with

from adapters.settings.refusals import CannotStart
from runtime.clock import machine

SUBJECT = "--output-schema"
SCHEMA_BYTES_MAX = 64 * 1024  # it is part of the message; a larger one is refused
PIPE_SECONDS = 5.0  # for each piece of a schema that comes through a pipe
CORRECTIONS_MAX = 3  # turns after the first one; then the schema is not met
SECONDS_MAX = 5.0  # for a look at a schema or an answer; references can double at each level
FOUND_MAX = 1_000  # faults of an answer that are compared; the rest is not looked for
FAULTS_MAX = 10  # of an answer, that the model is told of; it hardly mends more at once
FAULT_CHARACTERS_MAX = 300  # each; the rest is cut

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

ASK = """\
Answer with one JSON document and nothing else: no words before or behind it, no code fence. It \
has to fit this JSON Schema:

{schema}"""
CORRECT = """\
Your answer does not fit the JSON Schema:

{faults}

Answer again, with the whole JSON document and nothing else. This is the schema:

{schema}"""

_FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)\n\s*```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FittingAnswer:
    """An answer that fits, as JSON on one line."""

    document: bytes


@dataclass(frozen=True, slots=True)
class UnfitAnswer:
    """An answer that does not, and why."""

    faults: Sequence[str]
    is_hopeless: bool = False  # the schema is at fault, so that no other answer can fit


class DocumentSchema:
    """A schema that an answer has to fit."""

    def __init__(self, schema: Mapping[str, Any] | bool) -> None:
        """Raise CannotStart if it is no JSON Schema."""
        try:
            with limited(SECONDS_MAX):
                kind = validators.validator_for(schema, default=validators.Draft202012Validator)
                kind.check_schema(schema)
                _check_references(schema)
        except Unresolvable as error:
            why = f"names {error.ref:.200}, which is not in it; schemas elsewhere are not fetched"
            raise CannotStart(SUBJECT, why) from None
        except SchemaError as error:
            raise CannotStart(SUBJECT, f"is no JSON Schema ({error.message:.200})") from None
        except Exception as error:  # noqa: BLE001 of its form: too deep, or no text where one is due
            raise CannotStart(SUBJECT, f"is no JSON Schema ({error!s:.200})") from None
        # Schemas at other addresses are not fetched: a file of a script decides what is asked.
        self._validator = kind(schema, registry=Registry())  # has the schemas of JSON Schema itself
        self._text = json.dumps(schema, ensure_ascii=False)

    @property
    def request(self) -> str:
        """Return the words that ask for such an answer."""
        return ASK.format(schema=self._text)

    def correction(self, unfit: UnfitAnswer) -> str:
        """Return the words that ask for a better one."""
        faults = "\n".join(f"- {fault}" for fault in unfit.faults)
        return CORRECT.format(faults=faults, schema=self._text)

    def judge(self, answer: str) -> FittingAnswer | UnfitAnswer:
        """Look whether an answer fits; a code fence around it is forgiven."""
        try:
            document = json.loads(_unfenced(answer), parse_constant=_refuse_constant)
            line = json.dumps(document, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            return UnfitAnswer([f"it is no JSON document: {error}"])
        try:
            with limited(SECONDS_MAX):
                errors = islice(self._validator.iter_errors(document), FOUND_MAX)
                found = sorted(errors, key=exceptions.relevance)
        except Exception as error:  # noqa: BLE001 of references, patterns: as many as keywords
            fault = f"the schema cannot be applied to it: {error!s:.200}"
            return UnfitAnswer([fault], is_hopeless=True)
        if found:
            return UnfitAnswer([_fault(error) for error in found[:FAULTS_MAX]])
        return FittingAnswer(line)


def _check_references(schema: Mapping[str, Any] | bool) -> None:
    """Raise Unresolvable for a reference that leads out of the schema, or nowhere in it."""
    dialect = str(schema.get("$schema", "")) if isinstance(schema, Mapping) else ""
    specification = specification_with(dialect.rstrip("#"), default=DRAFT202012)
    root = specification.create_resource(schema)
    resolver = REGISTRY.with_resource("", root).resolver_with_root(root)
    waiting: list[tuple[Resource[Any], Any]] = [(root, resolver)]
    while waiting:
        part, resolver = waiting.pop()
        contents = part.contents if isinstance(part.contents, Mapping) else {}
        for keyword in REFERENCES:
            if isinstance(reference := contents.get(keyword), str):
                resolver.lookup(reference)
        waiting += [(each, resolver.in_subresource(each)) for each in part.subresources()]


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the work within that takes longer; also in a search for a pattern.

    Only the main thread is interrupted by signals, so only it may ask for this.
    """

    def give_up(number: int, frame: object) -> Never:
        raise TimeoutError(f"it takes longer than {seconds:g} s")

    handler = signal.signal(signal.SIGALRM, give_up)
    began = machine()
    other, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        left = max(0.001, other - (machine() - began)) if other else 0.0
        signal.setitimer(signal.ITIMER_REAL, left)
        signal.signal(signal.SIGALRM, handler)


def _read(path: Path) -> bytes:
    """Read a file to its end, or a byte beyond the bound; a pipe is waited for a while."""
    data = b""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as file:
        is_pipe = stat.S_ISFIFO(os.fstat(file.fileno()).st_mode)
        while len(data) <= SCHEMA_BYTES_MAX:
            if is_pipe and not select.select([file], [], [], PIPE_SECONDS)[0]:
                raise OSError(errno.ETIMEDOUT, f"nothing comes for {PIPE_SECONDS:g} s")
            more = file.read(SCHEMA_BYTES_MAX + 1 - len(data))
            if not more:
                break
            data += more
    return data


def read_schema(path: Path) -> DocumentSchema:
    """Read the file of a schema. CannotStart says what is wrong with it."""
    try:
        data = _read(path)
    except OSError as error:
        raise CannotStart(SUBJECT, f"{path} cannot be read ({error.strerror})") from None
    if len(data) > SCHEMA_BYTES_MAX:
        raise CannotStart(SUBJECT, f"{path} is larger than {SCHEMA_BYTES_MAX // 1024} KiB")
    try:
        schema = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CannotStart(SUBJECT, f"{path} is not JSON ({error})") from None
    if not isinstance(schema, dict | bool):
        raise CannotStart(SUBJECT, f"{path} is no JSON Schema (it must be an object)")
    return DocumentSchema(schema)


def _unfenced(answer: str) -> str:
    stripped = answer.strip()
    fenced = _FENCED.fullmatch(stripped)
    return stripped if fenced is None else fenced[1]


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _fault(error: exceptions.ValidationError) -> str:
    message = error.message
    if len(message) > FAULT_CHARACTERS_MAX:
        message = message[:FAULT_CHARACTERS_MAX] + "…"
    return f"at {error.json_path}: {message}"
