"""The document of a run: its settings, versions and rows, as JSON for later runs. Pure."""

from collections.abc import Sequence

import msgspec

from adapters.cli.bench.plan import Load
from adapters.cli.bench.telling.figures import Row

VERSION = 1  # of the form; a file of another one is refused
NOT_TOLD = "not told"


class RunDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A run with everything that it needs to be told apart from another."""

    version: int = VERSION
    made_at: str
    pace: str
    load: Load  # of the first row; the others differ in `chats`
    settings: dict[str, str]  # of the daemon, as they were given
    machine: dict[str, str]
    versions: dict[str, str]
    rows: list[Row]

    @property
    def groups(self) -> list[list[Row]]:
        """The rows, those that repeat one another together."""
        found: dict[tuple[str, int], list[Row]] = {}
        for row in self.rows:
            found.setdefault((row.name, row.chats), []).append(row)
        return list(found.values())


def encode(document: RunDocument) -> str:
    """Return a document as JSON."""
    text = msgspec.json.format(msgspec.json.encode(document), indent=1)
    return text.decode() + "\n"


def decode(text: bytes) -> RunDocument:
    """Return the document in JSON; ValueError says what is wrong with it."""
    try:
        document = msgspec.json.decode(text, type=RunDocument)
    except msgspec.MsgspecError as error:
        raise ValueError(f"is no result of a bench ({error})") from None
    if document.version != VERSION:
        raise ValueError(f"has the form {document.version}, this program knows {VERSION}")
    return document


def middle(rows: Sequence[Row]) -> Row:
    """Return the repeat whose first words came in the middle of all; that of one is itself."""

    def key(row: Row) -> float:
        phase = main_phase(row)
        times = row.phases[phase].times if phase else {}
        return times["first_words"].p50 if "first_words" in times else 0.0

    return sorted(rows, key=key)[len(rows) // 2]


def main_phase(row: Row) -> str | None:
    """Return the phase that a row is judged by: later turns, or the first if there are no more."""
    return next((name for name in ("follow_up", "initial") if name in row.phases), None)
