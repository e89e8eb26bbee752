"""Requests of git over HTTP: which may pass to a forge, and what is said in them. Pure."""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from adapters.chats.changes.pull_requests import is_branch, is_repository_path
from adapters.settings import Forge

LFS_AGENT = "promptcorner-lfs"  # a program in the directory of a gate
COMMANDS_BYTES_MAX = 64 * 1024  # of the begin of a push, in which the names of branches stand

_REQUEST = re.compile(
    r"/([^/?]{1,255})/([^?]{1,1000}?)(\.git)?/"
    r"(info/refs\?service=(?:git-upload-pack|git-receive-pack)|git-upload-pack|git-receive-pack)"
)
_PASSED = ("accept", "accept-encoding", "content-encoding", "content-type", "git-protocol")
_USERS: Mapping[str, str] = {"github": "x-access-token", "gitlab": "oauth2"}
_BRANCH = "refs/heads/"


@dataclass(frozen=True, slots=True)
class GitRequest:
    """A request of git: of which forge and repository it asks what."""

    host: str
    path: str  # of the repository
    suffix: str  # ".git" or nothing, as the remote is written
    what: str  # with its query

    @property
    def is_push(self) -> bool:
        return self.what == "git-receive-pack"


def git_request(method: str, target: str) -> GitRequest | None:
    """Return what git asks for; None if it is none of the five requests of smart HTTP.

    A path with anything unusual in it is refused, so that it means the same here and at the forge.
    """
    match = _REQUEST.fullmatch(target)
    if match is None:
        return None
    host, path, suffix, what = match.groups()
    if method != ("GET" if what.startswith("info/") else "POST") or not is_repository_path(path):
        return None
    return GitRequest(unquote(host).lower(), path, suffix or "", what)


def forge_target(forge: Forge, asked: GitRequest) -> str:
    """Return the path at the forge with its query."""
    return f"{urlsplit(forge.url).path}/{asked.path}{asked.suffix}/{asked.what}"


def forge_headers(
    forge: Forge, token: str, given: Sequence[tuple[bytes, bytes]]
) -> list[tuple[str, str]]:
    """Return the headers for the forge: those of git that mean something there, and the token."""
    pair = base64.b64encode(f"{_USERS[forge.kind]}:{token}".encode()).decode()
    passed = [
        (name.decode(), value.decode("latin-1"))
        for name, value in given
        if name.decode("latin-1").lower() in _PASSED
    ]
    return [*passed, ("user-agent", "git/2 promptcorner"), ("authorization", f"Basic {pair}")]


def redirected(forge: Forge, asked: GitRequest, location: str) -> str | None:
    """Return where a redirect leads, as git is to ask for it here; None: it is not followed.

    A repository that was given another name is at the same forge. Anywhere else the token is not
    sent.
    """
    there = urljoin(f"{forge.url}/{asked.path}{asked.suffix}/{asked.what}", location)
    base = f"{forge.url}/"
    if not location or not asked.what.startswith("info/") or not there.startswith(base):
        return None
    target = f"/{asked.host}/{there.removeprefix(base)}"
    return None if git_request("GET", target) is None else target


def pushed_branches(begin: bytes) -> Iterator[str]:
    """Yield the branches that a push sets, read from the begin of its body; none are told of those
    that it deletes."""
    at = 0
    while at + 4 <= len(begin):
        try:
            size = int(begin[at : at + 4], 16)
        except ValueError:
            return
        if size < 4 or at + size > len(begin):
            return
        line = begin[at + 4 : at + size].partition(b"\0")[0].decode(errors="replace").rstrip("\n")
        at += size
        words = line.split(" ", 2)
        if len(words) == 3 and words[2].startswith(_BRANCH) and words[1].strip("0"):
            branch = words[2].removeprefix(_BRANCH)
            if is_branch(branch):
                yield branch


def git_variables(directory: str, hosts: Sequence[str]) -> dict[str, str]:
    """Return the variables by which git in a sandbox asks these forges through the gate that is in
    this directory, whether a remote is written for https or for ssh. Git LFS hands its files to a
    program there that says why they do not pass."""
    config = [
        ("protocol.promptcorner.allow", "always"),
        ("lfs.customtransfer.promptcorner.path", f"{directory}/{LFS_AGENT}"),
    ]
    for host in hosts:
        base = f"promptcorner::https://{host}/"
        through = f"url.{base}.insteadOf"
        name = host.partition(":")[0]
        config += [
            (f"lfs.{base}.standalonetransferagent", "promptcorner"),
            (through, f"https://{host}/"),
            (through, f"http://{host}/"),
            (through, f"git@{name}:"),
            (through, f"ssh://git@{name}/"),
        ]
    numbered = {
        f"GIT_CONFIG_{word}_{number}": text
        for number, pair in enumerate(config)
        for word, text in zip(("KEY", "VALUE"), pair, strict=True)
    }
    return {**numbered, "GIT_CONFIG_COUNT": str(len(config)), "PROMPTCORNER_GIT_GATE": directory}
