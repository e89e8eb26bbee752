"""A setting, and what it is about. Pure data."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from adapters.settings.kinds import Kind

PREFIX = "PROMPTCORNER_"


class Subject(Enum):
    """What a setting is about; the value is its heading."""

    LISTENING = "listening"
    DATA = "data"
    ACCESS = "access and secrets"
    CHATS = "chats"
    WORKSPACES = "workspaces"
    LOG = "log"
    PROVIDERS = "providers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One row."""

    name: str
    subject: Subject
    kind: Kind
    says: str  # what it does, and what happens at its bound; a line for people
    usual: str | Callable[[], str] = ""  # as one would write it; "": there is none
    usual_says: str = ""  # where that is not to be read off `usual`
    names: tuple[str, ...] = ()  # of the environment, if not the usual one; the first counts
    secret: bool = False

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def variables(self) -> tuple[str, ...]:
        return self.names or (PREFIX + self.name.upper(),)

    @property
    def default(self) -> str:
        return self.usual() if callable(self.usual) else self.usual

    @property
    def default_says(self) -> str:
        """The default, in words that are the same on every machine."""
        return self.usual_says or (self.usual if isinstance(self.usual, str) else "")
