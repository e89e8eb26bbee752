"""Counts of what goes to the server."""

from dataclasses import dataclass


@dataclass(slots=True)
class Traffic:
    """Counts of what one connection has sent so far. A trip is one wait for an answer."""

    trips: int = 0
    statements: int = 0
    bytes_count: int = 0  # of the parameters; a statement's text goes out once for a connection

    def __add__(self, other: "Traffic") -> "Traffic":
        return Traffic(
            self.trips + other.trips,
            self.statements + other.statements,
            self.bytes_count + other.bytes_count,
        )
