"""The frame of what scripts wait for: it ends by itself, by an error, or by ctrl-C."""

import signal
from collections.abc import AsyncIterator, Awaitable, Callable

import trio

from adapters.cli.pipes.outcomes import Outcome, PipeEnd, end_of_fault
from promptcorner_client.errors import RequestRefused, ServerUnreachable


async def end_of(
    work: Callable[[], Awaitable[PipeEnd]],
    interrupted: Callable[[AsyncIterator[int]], Awaitable[None]],
) -> PipeEnd:
    """Do some work, and return how it ended. OSError: the output is closed.

    `interrupted` reads the ctrl-Cs; the work is left when it returns.
    """
    fault: OSError | None = None
    end = PipeEnd(Outcome.INTERRUPTED)  # if it is left
    with trio.open_signal_receiver(signal.SIGINT) as signals:
        async with trio.open_nursery() as nursery:

            async def leave() -> None:
                await interrupted(signals)
                nursery.cancel_scope.cancel()

            nursery.start_soon(leave)
            try:
                end = await work()
            except (RequestRefused, ServerUnreachable) as error:
                end = end_of_fault(error)
            except OSError as error:  # raised below, not in a group
                fault = error
            nursery.cancel_scope.cancel()
    if fault is not None:
        raise fault
    return end
