"""What a command sees of the machine, as arguments of bwrap. Pure.

It sees the system's programs and what they need to run, and can write to its workspace and to the
directory for passing files that goes with it. Nothing of the data directory, of users' homes or of
other workspaces is there at all. It has processes, users and signals of its own, and a network only
if that is allowed. With it ends all that it has started.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

# Read by the programs there are; of those that a machine does not have, nothing is said.
_PROGRAMS = ("/usr", "/opt", "/nix/store", "/run/current-system")
_ROOT_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = (
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "gitconfig",
    "group",
    "host.conf",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "passwd",
    "pki",
    "protocols",
    "services",
    "ssl",
    "timezone",
)
PASSING = "/tmp"
_OF_THE_NETWORK = "/etc/resolv.conf"


@dataclass(frozen=True, slots=True)
class Ground:
    """Directories of a workspace on this machine."""

    home: str  # what it is about; seen by the same path inside
    passing: str  # seen as PASSING; lives as long as the workspace does


@dataclass(frozen=True, slots=True)
class Layout:
    """How this machine's root is laid out, as far as the sandbox repeats it."""

    links: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    directories: Sequence[str] = ()


def layout() -> Layout:
    """Of the machine that we are on."""
    links = {path: os.readlink(path) for path in _ROOT_LINKS if os.path.islink(path)}
    own = [path for path in _ROOT_LINKS if path not in links and os.path.isdir(path)]
    return Layout(links, own)


def arguments(
    program: str,
    ground: Ground,
    *,
    workdir: str,
    network: bool,
    layout: Layout,
    hidden: Sequence[str] = (),
) -> list[str]:
    """Of bwrap itself; the command comes behind them. `hidden` are directories of which nothing is
    seen, wherever they lie, but for the workspace in one of them."""
    return [
        program,
        "--unshare-all",
        *(["--share-net"] if network else []),
        "--die-with-parent",
        "--cap-drop",
        "ALL",
        *_read_only(*_PROGRAMS, *layout.directories),
        *(word for path, to in layout.links.items() for word in ("--symlink", to, path)),
        *_read_only(*(f"/etc/{name}" for name in _SETTINGS)),
        *(_read_only(_OF_THE_NETWORK) if network else ()),
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--bind",
        ground.passing,
        PASSING,
        "--symlink",
        "../tmp",
        "/var/tmp",
        *(word for path in hidden for word in ("--tmpfs", path)),
        "--bind",
        ground.home,
        ground.home,
        # What all this has been put on is a disk in memory.
        *(word for path in (*hidden, "/") for word in ("--remount-ro", path)),
        "--chdir",
        workdir,
        "--",
    ]


def _read_only(*paths: str) -> list[str]:
    return [word for path in paths for word in ("--ro-bind-try", path, path)]
