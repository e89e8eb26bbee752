"""What adapters/postgres rests on in psycopg and libpq beyond their documented API.

Psycopg is pinned exactly. When it is upgraded, this file says which of our modules to look at.
Nothing of AsyncConnection, cursors or pools is used, and no name that begins with "_".
"""

import inspect
import select
from datetime import UTC, datetime
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import adapt, conninfo, errors, pq
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ConnStatus, ExecStatus, Format, PipelineStatus, TransactionStatus

from adapters.postgres.driver.values import ADAPTERS, Json

CHECKED_WITH = "3.3.9"


@pytest.fixture
def pgconn(database):
    pgconn = pq.PGconn.connect(database.encode())
    pgconn.nonblocking = 1
    yield pgconn
    pgconn.finish()


def answers(pgconn, count):
    """What get_result gives, `count` times, waiting as link.py does."""
    pgconn.flush()
    given = []
    for _ in range(count):
        while pgconn.is_busy():
            select.select([pgconn.socket], [], [], 5)
            pgconn.consume_input()
        result = pgconn.get_result()
        given.append(None if result is None else ExecStatus(result.status).name)
    return given


def test_the_version_is_the_one_that_was_checked():
    assert psycopg.__version__ == CHECKED_WITH, (
        f"psycopg {psycopg.__version__} is installed, {CHECKED_WITH} was checked: read its news for"
        " psycopg.pq, psycopg.adapt and psycopg.errors, run this folder's tests and bench,"
        " then set CHECKED_WITH and the pin in pyproject.toml and constraints.txt"
    )


def test_the_fast_implementation_is_there():
    assert pq.__impl__ in ("binary", "c"), (
        f"psycopg runs as {pq.__impl__}: values.py and link.py are several times slower;"
        " install psycopg[binary]"
    )


def test_libpq_can_cancel_without_blocking_and_close_a_prepared_statement():
    psycopg.capabilities.has_cancel_safe(check=True)  # waiting.cancel_on_server
    psycopg.capabilities.has_send_close_prepared(check=True)  # link._send
    psycopg.capabilities.has_pipeline(check=True)


@pytest.mark.parametrize(
    ("owner", "names", "look_at"),
    [
        (
            pq.PGconn,
            "backend_pid cancel_conn connect_poll connect_start consume_input"
            " enter_pipeline_mode exit_pipeline_mode finish flush get_error_message get_result"
            " is_busy nonblocking notifies pipeline_status pipeline_sync send_close_prepared"
            " send_prepare send_query send_query_prepared socket status transaction_status",
            "link.py and waiting.py",
        ),
        (pq.PGcancelConn, "finish get_error_message poll socket start", "waiting.py"),
        (
            Transformer,
            "dump_sequence formats load_rows set_pgresult",
            "link.py (_encode, _converse)",
        ),
        (adapt.AdaptersMap, "register_dumper register_loader", "values.py"),
        (errors, "error_from_result", "link.py"),
        (conninfo, "conninfo_attempts conninfo_to_dict make_conninfo", "link.py (Link.open)"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_names_are_there(owner, names, look_at):
    missing = [name for name in names.split() if not hasattr(owner, name)]

    assert not missing, f"{owner.__name__} has no {', '.join(missing)} any more: look at {look_at}"


def test_addresses_of_a_conninfo_are_found_by_a_function_that_may_run_in_a_thread():
    assert not inspect.iscoroutinefunction(conninfo.conninfo_attempts), "look at Link.open"
    given = conninfo.conninfo_to_dict("host=/a,127.0.0.1 port=1,2 dbname=x")

    found = conninfo.conninfo_attempts(given)

    assert [(one["host"], str(one["port"])) for one in found] == [("/a", "1"), ("127.0.0.1", "2")]


def test_a_map_of_adapters_is_a_context_without_a_connection_and_means_utc(pgconn):
    transformer = Transformer(ADAPTERS)
    assert transformer.connection is None, "timestamptz would come in the zone of the session"
    result = pgconn.exec_params(
        b"SELECT now(), gen_random_uuid()", None, result_format=Format.BINARY
    )

    transformer.set_pgresult(result)
    [(at, uuid)] = transformer.load_rows(0, 1, tuple)

    assert UTC.utcoffset(None) == at.utcoffset()
    assert isinstance(uuid, UUID)


def test_parameters_are_text_and_their_formats_are_told():
    transformer = Transformer(ADAPTERS)
    values = [uuid4(), 1, 2**40, True, 0.5, "a", None, datetime.now(UTC), Json(b"{}"), [1], b"b"]

    transformer.dump_sequence(values, [PyFormat.AUTO] * len(values))

    assert transformer.formats == [Format.TEXT] * 10 + [Format.BINARY], (
        "a parameter that goes in binary must have exactly the type the server infers:"
        " look at _AS_TEXT in values.py"
    )


def test_the_answers_of_a_pipeline_come_as_link_expects_them(pgconn):
    pgconn.enter_pipeline_mode()
    pgconn.send_prepare(b"one", b"SELECT 1")
    pgconn.send_query_prepared(b"one", (), None, result_format=Format.BINARY)
    pgconn.send_prepare(b"wrong", b"SELECT 1/0")
    pgconn.send_query_prepared(b"wrong", ())
    pgconn.send_query_prepared(b"one", ())
    pgconn.pipeline_sync()

    given = answers(pgconn, 11)
    pgconn.exit_pipeline_mode()

    assert given[:4] == ["COMMAND_OK", None, "TUPLES_OK", None]
    assert given[4:8] == ["COMMAND_OK", None, "FATAL_ERROR", None]
    assert given[-3:] == ["PIPELINE_ABORTED", None, "PIPELINE_SYNC"]
    assert pgconn.pipeline_status == PipelineStatus.OFF
    assert pgconn.transaction_status == TransactionStatus.IDLE


def test_a_server_that_hangs_up_makes_reading_raise_and_keeps_its_last_words(pgconn):
    pgconn.send_query(b"SELECT pg_terminate_backend(pg_backend_pid())")
    pgconn.flush()

    with pytest.raises(psycopg.OperationalError):
        read_to_the_end(pgconn)

    states = []
    while (result := pgconn.get_result()) is not None:
        states.append(result.error_field(pq.DiagnosticField.SQLSTATE))
    assert b"57P01" in states, "look at _last_words in link.py"
    assert pgconn.status == ConnStatus.BAD


def read_to_the_end(pgconn):
    for _ in range(100):
        select.select([pgconn.socket], [], [], 5)
        pgconn.consume_input()


def test_finishing_is_idempotent_and_leaves_it_bad(pgconn):
    pgconn.finish()
    pgconn.finish()

    assert pgconn.status == ConnStatus.BAD


def test_a_refusal_to_connect_has_no_code_but_two_spaces(database):
    with pytest.raises(psycopg.OperationalError, match=r"failed: FATAL:  database") as caught:
        psycopg.connect(f"{database} dbname=nowhere")

    assert caught.value.sqlstate is None, (
        "psycopg gives an SQLSTATE now: faults.from_connecting need not read texts any more"
    )
