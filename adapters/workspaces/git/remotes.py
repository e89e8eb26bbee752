"""Addresses of git remotes, and names of branches, as far as others than git read them. Pure."""

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit, urlunsplit

ADDRESS_CHARACTERS_MAX = 2_048  # a longer one is taken for none
BRANCH_CHARACTERS_MAX = 255  # likewise

_HTTP = ("http", "https")
_SCHEMES = (*_HTTP, "ssh", "git", "git+ssh", "ssh+git")
# git@host:owner/name, as ssh has it; with a slash before the colon it is a path of this machine.
_SCP = re.compile(r"(?:(?P<user>[^@/:\s]+)@)?(?P<host>\[[^\]\s]+\]|[^/:\s]+):(?P<path>[^\s]+)")
_UNFIT = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//")  # git-check-ref-format(1)


@dataclass(frozen=True, slots=True)
class GitRemote:
    """The repository of a forge that a remote's address names."""

    host: str  # in lower case
    path: str  # without slashes at its ends, and without `.git`: group/subgroup/name
    port: int | None = None  # of HTTP only: that of ssh says nothing about the forge's API
    is_plain: bool = False  # the address is http://

    @property
    def owner(self) -> str:
        """Return what stands before the name: a user, a group, or a group with its subgroups."""
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def remote_of(address: str) -> GitRemote | None:
    """Return the repository that a remote's address names, or None if it is none of a forge."""
    address = address.strip()
    if not address or len(address) > ADDRESS_CHARACTERS_MAX:
        return None
    parts = _split(address)
    if parts is None:
        found = None if "://" in address else _SCP.fullmatch(address)
        return None if found is None else _remote(found["host"].strip("[]"), found["path"])
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in _SCHEMES or not host:
        return None
    is_http = parts.scheme in _HTTP
    return _remote(
        host, parts.path, port=port if is_http else None, is_plain=parts.scheme == "http"
    )


def without_secrets(address: str) -> str:
    """Return a remote's address without the password or token that may stand in it."""
    address = address.strip()
    parts = _split(address)
    if parts is None or "@" not in parts.netloc:
        return address
    user, _, place = parts.netloc.rpartition("@")
    # A token may be the name of the user as well, but over ssh the user is how one gets in.
    name = "" if parts.scheme in _HTTP else user.partition(":")[0]
    return urlunsplit(parts._replace(netloc=f"{name}@{place}" if name else place))


def is_branch_name(name: str) -> bool:
    """Return whether git takes this for the name of a branch."""
    return bool(
        name
        and len(name) <= BRANCH_CHARACTERS_MAX
        and name != "@"
        and not name.startswith(("-", "/"))
        and not name.endswith(("/", "."))
        and not _UNFIT.search(name)
        and not any(part.startswith(".") or part.endswith(".lock") for part in name.split("/"))
    )


def _split(address: str) -> SplitResult | None:
    """Return the parts of an address that has a scheme, or None."""
    try:
        parts = urlsplit(address)
    except ValueError:  # a bracket that is not closed
        return None
    return parts if "://" in address and parts.scheme else None


def _remote(
    host: str, path: str, *, port: int | None = None, is_plain: bool = False
) -> GitRemote | None:
    path = path.strip("/").removesuffix(".git").strip("/")
    if "/" not in path or any(part in ("", ".", "..") for part in path.split("/")):
        return None
    return GitRemote(host.lower(), path, port, is_plain)
