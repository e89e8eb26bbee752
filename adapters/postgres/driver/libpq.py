"""One libpq connection on trio: statements out, their rows back, one round trip for any number.

The statements of an exchange leave in one pipeline that ends with one Sync. Without BEGIN they are
one transaction: if one fails, those behind it are skipped and those before it rolled back. A
statement is prepared when it is first sent, in the same pipeline, so preparing costs no trip.

After an exchange, however it ended, the connection is in one of two states: closed, or usable
(nothing on the wire, no statement running on the server). An exchange that is cancelled or runs
past its limit stops the statement on the server and reads the rest of its answer; if that does not
work within CANCEL_SECONDS, the connection is closed.

A connection has one user at a time. A second one is a bug.
"""

from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from typing import NoReturn, Self

import trio
from psycopg import Error, OperationalError, pq
from psycopg.abc import Buffer
from psycopg.adapt import Transformer
from psycopg.conninfo import conninfo_attempts, make_conninfo
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

from adapters.postgres.driver import timeouts as limits
from adapters.postgres.driver.faults import (
    DatabaseBusy,
    DatabaseFault,
    DatabaseGone,
    from_connecting,
    from_statement,
)
from adapters.postgres.driver.socket_waits import cancel_on_server, flush, handshake, is_readable
from adapters.postgres.driver.timeouts import Timeouts
from adapters.postgres.driver.traffic import Traffic
from adapters.postgres.driver.values import ADAPTERS, Parameters, Row, Statement, parse, verbatim
from adapters.settings.names import look_up

# How long a cancelled exchange may take to stop its statement; then the connection is closed.
CANCEL_SECONDS = 5.0
# How often, within that time, the server is asked again: a request that finds it between two
# statements of a pipeline stops neither.
CANCEL_AGAIN_SECONDS = 0.5
# Prepared statements of a connection; beyond, the least recently used is closed on the server.
PREPARED_MAX = 300

_BAD, _BINARY = ConnStatus.BAD, Format.BINARY
_TUPLES, _COMMAND = ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK
_SYNC, _FATAL = ExecStatus.PIPELINE_SYNC, ExecStatus.FATAL_ERROR
_COPY = (ExecStatus.COPY_IN, ExecStatus.COPY_OUT, ExecStatus.COPY_BOTH)
_IN_TRANSACTION = (TransactionStatus.INTRANS, TransactionStatus.INERROR)

_Encoded = tuple[bytes, Sequence[Buffer | None], Sequence[Format] | None]
_Awaited = tuple[bytes, bytes] | None  # the answer prepares (statement, name), or has rows
_CLOSING = (b"", b"")  # the answer closes a prepared statement
_CUT_SHORT = "the server's answer was cut short"


class LibpqConnection:
    def __init__(self, pgconn: PGconn, timeouts: Timeouts) -> None:
        self.timeouts = timeouts
        self.traffic = Traffic()
        self.backend = pgconn.backend_pid
        self._pgconn = pgconn
        self._fd = pgconn.socket
        self._transformer = Transformer(ADAPTERS)
        self._prepared: OrderedDict[bytes, bytes] = OrderedDict()  # statement: its name
        self._named = 0
        self._talking = False
        self._unanswered = False  # something of ours is on the wire, or running on the server

    # opening and closing

    @classmethod
    async def open(cls, conninfo: str, timeouts: Timeouts = limits.DEFAULT) -> Self:
        """Connect to the first address of `conninfo` that lets us in."""
        parameters = limits.parameters(conninfo, timeouts)
        where = f"postgres at {parameters.get('host', 'its default address')}"
        fault: Exception | None = None
        try:
            with trio.fail_after(timeouts.connect_seconds):  # names are looked up in the thread
                look = partial(conninfo_attempts, parameters)
                attempts = await look_up(look, str(parameters.get("host", "")))
            for attempt in attempts:
                try:
                    with trio.fail_after(timeouts.connect_seconds):
                        return cls(await _connect(make_conninfo("", **attempt)), timeouts)
                except OperationalError as error:
                    fault = from_connecting(error, where)
                    fault.__cause__ = error
                except trio.TooSlowError:
                    fault = DatabaseGone(f"{where}: no answer in {timeouts.connect_seconds:g} s")
        except trio.TooSlowError:
            fault = DatabaseGone(f"{where}: not found in {timeouts.connect_seconds:g} s")
        except OSError as error:  # too many look-ups wait already
            fault = DatabaseGone(f"{where}: {error.strerror}")
            fault.__cause__ = error
        except OperationalError as error:
            fault = from_connecting(error, where)
            fault.__cause__ = error
        assert fault is not None
        raise fault

    def close(self) -> None:
        """Hang up, at once. The server rolls back what was not committed."""
        if not self.closed:
            trio.lowlevel.notify_closing(self._fd)  # a task that still waits on it is told
        self._pgconn.finish()

    @property
    def closed(self) -> bool:
        return self._pgconn.status == _BAD

    @property
    def in_transaction(self) -> bool:
        return self._pgconn.transaction_status in _IN_TRANSACTION

    @property
    def in_failed_transaction(self) -> bool:
        return self._pgconn.transaction_status == TransactionStatus.INERROR

    def __repr__(self) -> str:
        return f"postgres/{self.backend}"

    # talking

    async def exchange(self, statements: Sequence[Statement], seconds: float) -> list[list[Row]]:
        """Return the rows of each statement, or raise the fault of the first one that failed."""
        encoded = [self._encode(sql, parameters) for sql, parameters in statements]
        self._begin()
        try:
            with trio.move_on_after(seconds):
                return await self._converse(encoded)
        finally:
            if self._unanswered:
                with trio.move_on_after(CANCEL_SECONDS, shield=True):
                    await self._abandon()
            self._end()
        raise self._too_slow(seconds)

    async def script(self, sql: str, seconds: float) -> None:
        """Run several statements in one text, without parameters or rows. They are one transaction,
        unless the text has its own."""
        self._begin()
        try:
            with trio.move_on_after(seconds):
                return await self._recite(sql.encode())
        finally:
            if self._unanswered:
                with trio.move_on_after(CANCEL_SECONDS, shield=True):
                    await self._abandon()
            self._end()
        raise self._too_slow(seconds)

    async def hear(self) -> list[tuple[str, str]]:
        """Wait until there is something to read, and return the (channel, payload) of each
        notification."""
        self._begin()
        try:
            if heard := self._notifications():  # they came along with an answer
                await trio.lowlevel.checkpoint_if_cancelled()
                return heard
            await trio.lowlevel.wait_readable(self._fd)
            self._pgconn.consume_input()
        except (OperationalError, trio.ClosedResourceError) as error:
            raise self._lost(error) from error
        finally:
            self._end()
        return self._notifications()

    def is_alive(self) -> bool:
        """Return whether an idle connection is still open, as far as one poll() can tell."""
        if not self.closed and is_readable(self._fd):  # a farewell, or an unasked notice
            try:
                self._pgconn.consume_input()
            except OperationalError:
                return False
            return not self.closed and not is_readable(self._fd)
        return not self.closed

    # one exchange

    def _notifications(self) -> list[tuple[str, str]]:
        heard = []
        while (notification := self._pgconn.notifies()) is not None:
            heard.append((notification.relname.decode(), notification.extra.decode()))
        return heard

    def _begin(self) -> None:
        assert not self._talking, f"{self}: two tasks use one connection"
        if self.closed:
            raise DatabaseGone(f"{self}: closed")
        self._talking = True

    def _end(self) -> None:
        self._talking = False
        if self._unanswered:
            self.close()
        elif not self.closed and self._pgconn.pipeline_status:
            self._pgconn.exit_pipeline_mode()

    def _encode(self, sql: str, parameters: Parameters) -> _Encoded:
        if not parameters:
            return verbatim(sql).sql, (), None
        parsed = parse(sql)
        transformer = self._transformer
        values = transformer.dump_sequence(parsed.pick(parameters), parsed.formats)
        return parsed.sql, values, transformer.formats

    async def _converse(self, encoded: Sequence[_Encoded]) -> list[list[Row]]:
        try:
            self._unanswered = True
            awaited = self._send(encoded)
            await flush(self._pgconn)
            results = await self._answers(awaited)
            self._unanswered = False
        except (Error, trio.ClosedResourceError) as error:
            raise self._lost(error) from error
        transformer, rows = self._transformer, []
        for result in results:
            status = result.status
            if status == _TUPLES:
                transformer.set_pgresult(result)
                rows.append(transformer.load_rows(0, result.ntuples, tuple))
            elif status == _FATAL:
                self._raise(error_from_result(result))
            else:
                rows.append([])
        return rows

    def _send(self, encoded: Sequence[_Encoded]) -> list[_Awaited]:
        """Queue all statements. Return for each answer what it would prepare, or nothing."""
        pgconn, prepared = self._pgconn, self._prepared
        pgconn.enter_pipeline_mode()
        awaited: list[_Awaited] = []
        while len(prepared) > PREPARED_MAX:
            pgconn.send_close_prepared(prepared.popitem(last=False)[1])
            awaited.append(_CLOSING)
        fresh: dict[bytes, bytes] = {}
        sent = 0
        for sql, values, formats in encoded:
            name = prepared.get(sql)
            if name is not None:
                prepared.move_to_end(sql)
            elif (name := fresh.get(sql)) is None:
                self._named += 1
                name = fresh[sql] = b"s%d" % self._named
                pgconn.send_prepare(name, sql)
                awaited.append((sql, name))
            pgconn.send_query_prepared(name, values, formats, result_format=_BINARY)
            awaited.append(None)
            sent += sum([len(value) for value in values if value is not None])
        pgconn.pipeline_sync()
        traffic = self.traffic
        traffic.trips += 1
        traffic.statements += len(encoded)
        traffic.bytes_count += sent
        return awaited

    async def _answers(self, awaited: list[_Awaited]) -> list[PGresult]:
        """Return one result for each statement. After one that failed, none matters."""
        results: list[PGresult] = []
        failed = None
        try:
            for preparing in awaited:
                result = await self._result()
                if result is None:
                    raise OperationalError(_CUT_SHORT)
                status = result.status
                assert status not in _COPY, "COPY does not go through here"
                if status == _FATAL and failed is None:
                    failed = result
                await self._result()  # None: the end of this answer
                if preparing is None:
                    results.append(result)
                elif status == _COMMAND and preparing is not _CLOSING:
                    self._prepared[preparing[0]] = preparing[1]
            end = await self._result()
            if end is None or end.status != _SYNC:  # the server was stopped, or has crashed
                raise OperationalError(_CUT_SHORT) if end is None else error_from_result(end)
        except Error:
            self.close()
            if failed is None:
                raise
        return results if failed is None else [failed]

    async def _recite(self, sql: bytes) -> None:
        failed = None
        try:
            self._unanswered = True
            self._pgconn.send_query(sql)
            await flush(self._pgconn)
            while (result := await self._result()) is not None:
                assert result.status not in _COPY, "COPY does not go through here"
                if result.status == _FATAL and failed is None:
                    failed = result
            self._unanswered = False
        except (Error, trio.ClosedResourceError) as error:
            raise self._lost(error) from error
        if failed is not None:
            self._raise(error_from_result(failed))

    async def _result(self) -> PGresult | None:
        pgconn = self._pgconn
        while pgconn.is_busy():
            await trio.lowlevel.wait_readable(self._fd)
            try:
                pgconn.consume_input()
            except OperationalError as hung_up:
                raise self._last_words(hung_up) from hung_up
        return pgconn.get_result()

    # when it does not go well

    def _last_words(self, hung_up: OperationalError) -> Error:
        """Return why the server hung up, if it said so before."""
        nones = 0
        while nones < 2:  # one ends an answer, two end them all
            result = self._pgconn.get_result()
            if result is None:
                nones += 1
            elif result.error_field(DiagnosticField.SQLSTATE):
                return error_from_result(result)
            else:
                nones = 0
        return hung_up

    async def _abandon(self) -> None:
        """Stop what runs on the server, and read what is left of its answer."""
        while self._unanswered and not self.closed:
            try:
                with trio.move_on_after(CANCEL_AGAIN_SECONDS):
                    await cancel_on_server(self._pgconn)
                    await flush(self._pgconn)
                    await self._drain()
                    self._unanswered = False
            except (Error, trio.ClosedResourceError):
                return

    async def _drain(self) -> None:
        last = _SYNC if self._pgconn.pipeline_status else None
        while True:
            result = await self._result()
            status = None if result is None else result.status
            if status in _COPY:
                raise OperationalError("a COPY cannot be drained")
            if status == last or self.closed:
                return

    def _raise(self, error: Error) -> NoReturn:
        fault = from_statement(error, str(self))
        if isinstance(fault, DatabaseGone):
            self.close()
        if fault is error:
            raise error
        raise fault from error

    def _lost(self, error: Exception) -> DatabaseGone:
        self.close()
        if isinstance(error, trio.ClosedResourceError):
            return DatabaseGone(f"{self}: closed")
        text = str(error).strip().removeprefix("consuming input failed: ") or "lost"
        return DatabaseGone(f"{self}: {text.splitlines()[0]}")

    def _too_slow(self, seconds: float) -> DatabaseFault:
        if self.closed:
            return DatabaseGone(f"{self}: no answer in {seconds:g} s, connection closed")
        return DatabaseBusy(f"{self}: not done in {seconds:g} s, stopped")


async def _connect(conninfo: str) -> PGconn:
    pgconn: PGconn = pq.PGconn.connect_start(conninfo.encode())
    connected = False
    try:
        if pgconn.status == _BAD:
            raise OperationalError(pgconn.get_error_message())
        await handshake(pgconn, pgconn.connect_poll)
        pgconn.nonblocking = 1
        connected = True
        return pgconn
    finally:
        if not connected:
            pgconn.finish()
