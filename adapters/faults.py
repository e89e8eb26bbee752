"""Where a library's errors become ours."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def map_errors(subject: str, table: Mapping[type[Exception], type[Exception]]) -> Iterator[None]:
    """Raise `table[type]("subject: text")` in place of a library's error, which stays as cause.

    The first row that fits wins, so put subclasses before their bases. An error that is not in
    the table passes as it is: it is a bug, and hiding it would hide the bug.
    """
    try:
        yield
    except tuple(table) as error:
        ours = next(ours for theirs, ours in table.items() if isinstance(error, theirs))
        raise ours(f"{subject}: {str(error) or type(error).__name__}") from error
