"""A trio cancel scope that knows why it was cancelled.

The first cause wins, and a deadline that has passed counts as first. A grace is a deadline with
a cause of its own: `expire_in(30, Shutdown())` lets the work go on for 30 seconds at most.
"""

from types import TracebackType

import trio

from runtime.ends import Cause, Deadline


class CausedScope:
    """A cancel scope that remembers the first cause it was cancelled for. Used for one `with`."""

    __slots__ = ("_cause", "_expiry", "_scope")

    def __init__(self, *, seconds: float | None = None, shield: bool = False) -> None:
        """`seconds` run from the moment of entry; `shield` keeps outer cancellation out."""
        self._cause: Cause | None = None
        self._expiry: Cause | None = None
        if seconds is None:
            self._scope = trio.CancelScope(shield=shield)
        else:
            self._scope = trio.CancelScope(relative_deadline=seconds, shield=shield)
            self._expiry = Deadline(seconds)

    def cancel(self, cause: Cause) -> None:
        """Tell the work inside to stop now. Later causes are ignored."""
        if not self._scope.cancel_called:  # a deadline that has passed came first
            self._cause = cause
            self._scope.cancel(reason=repr(cause))

    def expire_in(self, seconds: float, cause: Cause) -> None:
        """Give the work inside `seconds` more, then stop it for `cause`; never more than it had."""
        seconds = max(0.0, seconds)
        if seconds < self._scope.relative_deadline:  # below zero once a deadline has passed
            self._scope.relative_deadline = seconds
            self._expiry = cause

    def renew(self, seconds: float, cause: Cause) -> None:
        """Give the work inside `seconds` from now, more or less than it had, then stop it for
        `cause`.

        This makes the scope a guard that is renewed as long as things go well.
        """
        if not self._scope.cancel_called:
            self._scope.relative_deadline = seconds
            self._expiry = cause

    def shelter(self) -> None:
        """Keep outer cancellation out from now on, though it may have come in before."""
        self._scope.shield = True

    def __enter__(self) -> "CausedScope":
        self._scope.__enter__()
        return self

    def __exit__(
        self,
        etype: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        return self._scope.__exit__(etype, error, traceback)

    @property
    def requested(self) -> Cause | None:
        """Return why this scope was told to stop, whether or not that cut any work short."""
        if not self._scope.cancel_called:
            return None
        return self._cause or self._expiry

    @property
    def interrupted_by(self) -> Cause | None:
        """Return why work was really cut short; None while inside, or if it ended by itself."""
        return self.requested if self._scope.cancelled_caught else None

    def __repr__(self) -> str:
        return f"<CausedScope: {self.requested or 'going on'}>"
