"""Why the daemon does not start: the one exception that the command line knows."""


class CannotStart(Exception):
    """What is wrong, and what to do about it; the command line prints it and exits with 1."""

    def __init__(self, subject: str, fact: str, advice: str) -> None:
        super().__init__(f"{subject}: {fact}; {advice}")
        self.subject = subject
        self.fact = fact
        self.advice = advice
