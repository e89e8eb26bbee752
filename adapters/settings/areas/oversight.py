"""The settings of what watches over chats: policy hooks, and records of model calls."""

from dataclasses import dataclass
from ipaddress import ip_address
from typing import ClassVar
from urllib.parse import urlsplit

from adapters.settings.kinds import InvalidValue, OnOff, Seconds, SecretText
from adapters.settings.refusals import CannotStart
from adapters.settings.setting import Subject, setting

SECRET_CHARACTERS_MIN, SECRET_CHARACTERS_MAX = 32, 1024


@dataclass(frozen=True, slots=True)
class HookAddress:
    """The address of a server of hooks, with its path and its query."""

    shape: ClassVar[str] = "URL"
    bounds: ClassVar[str] = ""
    must: ClassVar[str] = (
        "must be https://, a host and a path, without a user and without a fragment"
    )

    def read(self, text: str) -> str:
        try:
            parts = urlsplit(text)
            whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            whole = False
        if not whole or "#" in text or "@" in parts.netloc or not text.isascii() or " " in text:
            raise InvalidValue(self.must)
        return text


def is_safe(url: str) -> bool:
    """Tell whether what is sent to this address stays between the two ends: by https, or on this
    machine. Pure."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return True
    host = (parts.hostname or "").lower()
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


@dataclass(frozen=True, slots=True, kw_only=True)
class OversightConfig:
    """The settings of hooks and records, as a part of the daemon's own."""

    debug_logging_forced: bool = setting(
        Subject.CHATS,
        OnOff(),
        default="off",
        help="whether the model calls of all users are recorded, whatever they have switched on",
    )
    hook_url: str | None = setting(
        Subject.HOOKS,
        HookAddress(),
        default_help="none: nothing is asked",
        help="a server that is asked about prompts and calls, and may deny or rewrite them",
    )
    hook_secret: str | None = setting(
        Subject.HOOKS,
        SecretText(SECRET_CHARACTERS_MIN, SECRET_CHARACTERS_MAX),
        default_help="none",
        secret=True,
        help="signs what hook_url is asked; that server knows it, too",
    )
    hook_timeout: float = setting(
        Subject.HOOKS,
        Seconds(0.1, 60),
        default="5",
        help="how long hook_url may take for one answer, all tries together; then it counts as no",
    )
    hook_insecure: bool = setting(
        Subject.HOOKS,
        OnOff(),
        default="off",
        help="allow a hook_url with http:// on another machine",
    )


def check_hooks(config: OversightConfig) -> None:
    """Refuse settings of hooks that do not fit together."""
    if config.hook_url is not None and config.hook_secret is None:
        raise CannotStart("config", "hook_url is set and hook_secret is not", "set both, or none")
    if config.hook_url is None or config.hook_insecure or is_safe(config.hook_url):
        return
    advice = "use https://, or set hook_insecure if nobody can listen in between"
    raise CannotStart("config", "hook_url is http:// on another machine", advice)
