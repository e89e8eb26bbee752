"""The refusal to start: the one exception that the command line knows."""


class CannotStart(Exception):
    """A start that is refused: what is wrong, and what to do about it.

    The command line prints it and exits with 1.
    """

    def __init__(self, subject: str, fact: str, advice: str = "") -> None:
        """`advice` may be left out where the fact says what to do (`…, must be 1..64`)."""
        super().__init__(f"{subject}: {fact}; {advice}" if advice else f"{subject}: {fact}")
