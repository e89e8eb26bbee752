"""Checks of a server of the user's own: can it be used, and if not, what is wrong."""

import os
import re
import socket

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from adapters.settings.refusals import CannotStart
from runtime.threads import ThreadLimits

VERSION_MIN = 15
REACHING = ThreadLimits("database_reached", 2)  # threads in which these functions are called
CONNECT_SECONDS = 10  # for each address of the server, unless DATABASE_URL says otherwise

_SPOKEN = "FATAL:  "  # before what the server itself has said


def check(conninfo: str) -> None:
    """Connect once and look at the server. It blocks for a bounded time."""
    subject = describe(conninfo)
    limited = {"connect_timeout": CONNECT_SECONDS, **conninfo_to_dict(conninfo)}
    try:
        with psycopg.connect(make_conninfo("", **limited)) as connection:
            version = connection.info.server_version
            standby = connection.info.parameter_status("in_hot_standby") == "on"
    except psycopg.OperationalError as error:
        raise refuse(subject, str(error)) from error
    if version < VERSION_MIN * 10_000:
        found = f"{version // 10_000}.{version % 10_000}"
        raise CannotStart(
            subject,
            f"it is PostgreSQL {found}, must be {VERSION_MIN} or newer",
            "upgrade it, or unset DATABASE_URL to use the embedded server",
        )
    if standby:
        raise CannotStart(subject, "it is a standby and takes no writes", "name the primary")


def our_end(conninfo: str) -> str | None:
    """Return the address of this machine from which it reaches the server. None: over a socket of
    the file system, so the server is on this machine. It blocks for a bounded time."""
    limited = {"connect_timeout": CONNECT_SECONDS, **conninfo_to_dict(conninfo)}
    try:
        with (
            psycopg.connect(make_conninfo("", **limited)) as connection,
            socket.socket(fileno=os.dup(connection.fileno())) as ours,
        ):
            name = ours.getsockname()
    except psycopg.OperationalError as error:
        raise refuse(describe(conninfo), str(error)) from error
    return None if isinstance(name, str | bytes) else str(name[0])


def describe(conninfo: str) -> str:
    """Return `database host:port/name`: an address in words that quote no password."""
    words = conninfo_to_dict(conninfo)
    host = words.get("host") or words.get("hostaddr") or "localhost"
    name = words.get("dbname") or words.get("user") or ""
    return f"database {host}:{words.get('port') or 5432}/{name}"


def refuse(subject: str, text: str) -> CannotStart:
    """Return the refusal for what libpq said. It gives only words when a connection fails."""
    if re.search(r"password authentication failed|no password supplied", text):
        return CannotStart(
            subject, "the server does not accept the password", "correct it in DATABASE_URL"
        )
    if missing := re.search(r'(database|role) "(.*)" does not exist', text):
        kind, name = missing.groups()
        command = "createdb" if kind == "database" else "createuser"
        return CannotStart(
            subject,
            f'there is no {kind} "{name}" on the server',
            f"create it ({command} {name}) or correct DATABASE_URL",
        )
    if "could not translate host name" in text or "failed to resolve host" in text:
        return CannotStart(subject, "there is no host of that name", "correct DATABASE_URL")
    fault = _first_fault(text)
    if fault.startswith(_SPOKEN) or "SSL" in fault:
        return CannotStart(
            subject,
            f"the server does not let us in ({fault.removeprefix(_SPOKEN)})",
            "correct DATABASE_URL or the server's settings",
        )
    return CannotStart(
        subject, f"the server cannot be reached ({fault})", "start it or correct DATABASE_URL"
    )


def _first_fault(text: str) -> str:
    line = (text.strip() or "no answer").splitlines()[0]
    return line.rpartition(" failed: ")[2]
