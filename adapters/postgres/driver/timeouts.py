"""Timeouts of a connection, and the conninfo that tells them to libpq and the server."""

from dataclasses import dataclass
from typing import Any

from psycopg.conninfo import conninfo_to_dict


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The timeouts. The server enforces its own; ours are longer, and notice a network that is
    dead.

    A peer that vanished (half-open) is noticed by a running exchange after `statement_seconds +
    margin_seconds` at the latest; on TCP by the kernel already after `unacknowledged_seconds` or
    the keepalives. Unix sockets have neither and need neither.
    """

    connect_seconds: float = 10.0  # for each address of the server; then DatabaseGone
    statement_seconds: float = 30.0  # the server stops the statement; DatabaseBusy
    lock_seconds: float = 10.0  # the server stops the statement; DatabaseBusy
    idle_in_transaction_seconds: float = 60.0  # the server hangs up; DatabaseGone
    margin_seconds: float = 5.0  # an exchange may take this much longer than one statement
    commit_seconds: float = 10.0  # then COMMIT's answer counts as lost, and it is settled
    settle_seconds: float = 30.0  # then its outcome is unknown; OutcomeUnknown
    keepalive_idle_seconds: int = 30
    keepalive_interval_seconds: int = 10
    keepalives_count: int = 3
    unacknowledged_seconds: float = 30.0

    @property
    def exchange_seconds(self) -> float:
        return self.statement_seconds + self.margin_seconds


DEFAULT = Timeouts()


def parameters(conninfo: str, timeouts: Timeouts) -> dict[str, Any]:
    """Return the parameters of `conninfo`, with our defaults for those that it does not set."""
    given = conninfo_to_dict(conninfo)
    settings = {
        "statement_timeout": timeouts.statement_seconds,
        "lock_timeout": timeouts.lock_seconds,
        "idle_in_transaction_session_timeout": timeouts.idle_in_transaction_seconds,
    }
    options = " ".join(f"-c {name}={_ms(seconds)}" for name, seconds in settings.items())
    return {
        "application_name": "promptcorner",
        "keepalives_idle": timeouts.keepalive_idle_seconds,
        "keepalives_interval": timeouts.keepalive_interval_seconds,
        "keepalives_count": timeouts.keepalives_count,
        "tcp_user_timeout": _ms(timeouts.unacknowledged_seconds),
        **given,
        "client_encoding": "utf8",  # values.py rests on it
        "options": f"{options} {given.get('options', '')}".strip(),  # the later one wins
    }


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
