"""The HTTP client of all providers, which notes the exchanges of a recorded call.

The call says by a context variable that it is recorded, so providers know nothing of records. A
call that is not recorded costs one look at that variable, and its deltas cost nothing more.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar

from adapters.models.debug_runs.documents import NotedExchange
from adapters.models.providers.http import HttpClient, ProviderRequest, ProviderResponse
from adapters.models.providers.shared_reads import Take
from runtime.clock import wall

EXCHANGES_MAX = 16  # of one call; more are made, but not noted

_NOTED: ContextVar[list[NotedExchange] | None] = ContextVar("noted_exchanges", default=None)


@contextmanager
def noting(exchanges: list[NotedExchange]) -> Iterator[None]:
    """Note the exchanges that this task makes in the block."""
    before = _NOTED.set(exchanges)
    try:
        yield
    finally:
        _NOTED.reset(before)


class RecordingClient(HttpClient):
    """A client that notes the exchanges of calls that are recorded."""

    def call(self, request: ProviderRequest) -> AbstractAsyncContextManager[ProviderResponse]:
        exchanges = _NOTED.get()
        if exchanges is None or len(exchanges) >= EXCHANGES_MAX:
            return super().call(request)
        return self._noted(request, exchanges)

    @asynccontextmanager
    async def _noted(
        self, request: ProviderRequest, exchanges: list[NotedExchange]
    ) -> AsyncIterator[ProviderResponse]:
        origin = request.origin
        url = f"{origin.scheme}://{origin.host_header}{request.target}"
        exchange = NotedExchange(request.method, url, request.headers, request.body, wall())
        exchanges.append(exchange)
        is_over = False
        try:
            async with self._call(request) as response:
                exchange.response_status = response.status
                exchange.response_headers = response.headers
                yield NotedResponse(response, exchange)
            is_over = True
        except Exception as error:
            exchange.error = str(error) or type(error).__name__
            raise
        finally:
            exchange.finished_at = wall()
            if not is_over and not exchange.error:
                exchange.error = "it was cut short"


class NotedResponse(ProviderResponse):
    """A response of which each piece is noted as it is read."""

    def __init__(self, response: ProviderResponse, exchange: NotedExchange) -> None:
        self.status = response.status
        self.headers = response.headers
        self.framing = response.framing
        self.connection = response.connection
        self._response = response
        self._exchange = exchange

    async def each(self, take: Take) -> None:
        """Return at once: what is noted is read by its own task."""

    async def receive(self) -> bytes:
        try:
            data = await self._response.receive()
        except Exception as error:
            self._exchange.error = str(error) or type(error).__name__
            raise
        self._exchange.heard(data)
        return data
