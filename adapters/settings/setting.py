"""A setting: how it is set, and what it is about. Pure data."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar, overload

from adapters.settings.kinds import ValueKind

PREFIX = "PROMPTCORNER_"

_Value = TypeVar("_Value")


class Subject(Enum):
    """The subject of a setting. The value is its heading."""

    LISTENING = "listening"
    DATA = "data"
    ACCESS = "access and secrets"
    CHATS = "chats"
    HOOKS = "policy hooks"
    PLUGINS = "plugins"
    WORKSPACES = "workspaces"
    LOG = "log"
    PROVIDERS = "providers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One row of the table."""

    name: str
    subject: Subject
    kind: ValueKind[Any]
    help: str  # what it does, and what happens at its bound; a line for people
    default_text: str | Callable[[], str] = ""  # as one would write it; "": there is none
    default_words: str = ""  # where `default_text` does not tell it
    variable_names: tuple[str, ...] = ()  # if not the one of its name; the first counts
    secret: bool = False

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def variables(self) -> tuple[str, ...]:
        return self.variable_names or (PREFIX + self.name.upper(),)

    @property
    def default(self) -> str:
        return self.default_text() if callable(self.default_text) else self.default_text

    @property
    def default_help(self) -> str:
        """The default, in words that are the same on every machine."""
        return self.default_words or (
            self.default_text if isinstance(self.default_text, str) else ""
        )


@overload
def setting(
    subject: Subject,
    kind: ValueKind[_Value],
    *,
    help: str,
    default: str | Callable[[], str],
    default_help: str = "",
    variables: tuple[str, ...] = (),
    secret: bool = False,
) -> _Value: ...


@overload
def setting(
    subject: Subject,
    kind: ValueKind[_Value],
    *,
    help: str,
    default_help: str = "",
    variables: tuple[str, ...] = (),
    secret: bool = False,
) -> _Value | None: ...


def setting(
    subject: Subject,
    kind: ValueKind[_Value],
    *,
    help: str,
    default: str | Callable[[], str] = "",
    default_help: str = "",
    variables: tuple[str, ...] = (),
    secret: bool = False,
) -> Any:
    """Declare a field of `Config` that is a setting. Without a default it may be None.

    The type of the field has to be what its kind reads, which mypy checks.
    """
    row = Setting(
        name="",  # that of the field, which the table puts in
        subject=subject,
        kind=kind,
        help=help,
        default_text=default,
        default_words=default_help,
        variable_names=variables,
        secret=secret,
    )
    return field(repr=not secret, metadata={"setting": row})
