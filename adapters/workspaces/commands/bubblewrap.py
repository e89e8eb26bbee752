"""The arguments of bwrap, which say what a command sees of the machine. Pure.

A command sees the system's programs and what they need to run, and can write to its workspace and
to the directory of temporary files that goes with it. Nothing of the data directory, of users'
homes or of other workspaces is there at all. It has processes, users and signals of its own, and a
network only if that is allowed. All that it has started ends with it.

To the kernel it is still the daemon's user. So what the kernel lets root change without asking for
more is laid over with itself, read-only; and no further namespaces can be made inside, in which a
command would be root of something.
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
    "fonts",
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
# Of the kernel, writable for its owner: the daemon, where that is root.
_KERNELS = tuple(
    f"/proc/{name}"
    for name in ("acpi", "asound", "bus", "fs", "irq", "scsi", "sys", "sysrq-trigger")
)
TMP_SEEN = "/tmp"
GATE_SEEN = "/run/promptcorner"
_ALIAS = "/var/tmp"
_OF_THE_NETWORK = "/etc/resolv.conf"
_NOTHING = "/dev/null"
DESKTOP_SEEN = "/run/desktop"  # the directory of a desktop, for the programs that are the desktop
SCREENS_SEEN = "/tmp/.X11-unix"  # where programs look for screens
# Of each disk in memory that a command can write to; then it is full. No other limit counts them.
MEMORY_DISK_BYTES_MAX = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class WorkspacePaths:
    """Directories of a workspace on this machine."""

    home: str  # what it is about; seen by the same path inside
    tmp: str  # commands see it as TMP_SEEN; it is kept as long as the workspace
    screens: str = ""  # seen as SCREENS_SEEN, where /tmp is each command's own; "": there are none
    desktop: str = ""  # seen as DESKTOP_SEEN; "": not seen at all
    gate: str = ""  # commands see it as GATE_SEEN; "": there is none


@dataclass(frozen=True, slots=True)
class HiddenPaths:
    """Directories and files that commands cannot see, except for the workspace in one of them."""

    directories: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def existing(self) -> "HiddenPaths":
        """Return those that exist: nothing can be laid over what does not."""
        return HiddenPaths(
            tuple(filter(os.path.isdir, self.directories)),
            tuple(filter(os.path.isfile, self.files)),
        )

    @property
    def shown_files(self) -> list[str]:
        """Return the files that would be seen otherwise; the others are in no directory that is
        shown."""
        return [path for path in self.files if any(_is_below(path, top) for top in _PROGRAMS)]


NOTHING_HIDDEN = HiddenPaths()


@dataclass(frozen=True, slots=True)
class Layout:
    """The links and directories at this machine's root, as far as the sandbox repeats them."""

    links: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    directories: Sequence[str] = ()


def layout() -> Layout:
    """Return the layout of this machine."""
    links = {path: os.readlink(path) for path in _ROOT_LINKS if os.path.islink(path)}
    own = [path for path in _ROOT_LINKS if path not in links and os.path.isdir(path)]
    return Layout(links, own)


def arguments(
    program: str,
    paths: WorkspacePaths,
    *,
    workdir: str,
    network: bool,
    layout: Layout,
    hidden: HiddenPaths,
) -> list[str]:
    """Return the arguments of bwrap itself; those of the command come behind them."""
    return [
        program,
        "--unshare-all",
        *(["--share-net"] if network else []),
        *("--unshare-user", "--disable-userns"),
        "--die-with-parent",
        *("--cap-drop", "ALL"),
        *_directory("/etc"),
        *_directory("/var"),
        *_read_only(*_PROGRAMS, *layout.directories),
        *(word for path, to in layout.links.items() for word in ("--symlink", to, path)),
        *_read_only(*(f"/etc/{name}" for name in _SETTINGS)),
        *(_read_only(_OF_THE_NETWORK) if network else ()),
        *(word for path in hidden.shown_files for word in ("--ro-bind", _NOTHING, path)),
        *("--proc", "/proc"),
        *_read_only(*_KERNELS),
        *("--dev", "/dev"),
        *_in_memory("/dev/shm"),
        *("--remount-ro", "/dev"),
        *_tmp(paths, hidden),
        *("--symlink", "../tmp", _ALIAS),
        *(word for path in hidden.directories for word in ("--tmpfs", path)),
        *(("--bind", paths.desktop, DESKTOP_SEEN) if paths.desktop else ()),
        *("--bind", paths.home, paths.home),
        *(("--ro-bind", paths.gate, GATE_SEEN) if paths.gate else ()),
        # What all this has been put on is a disk in memory.
        *(word for path in (*hidden.directories, "/") for word in ("--remount-ro", path)),
        *("--chdir", workdir),
        "--",
    ]


def _tmp(paths: WorkspacePaths, hidden: HiddenPaths) -> list[str]:
    """Return what /tmp is: the workspace's own, unless something has to be laid into it. A link
    that a command has left there would lead that elsewhere, so then each command has a /tmp of its
    own, in memory."""
    laid = (paths.home, *hidden.directories)
    if any(_is_below(path, top) for path in laid for top in (TMP_SEEN, _ALIAS)):
        screens = ["--bind-try", paths.screens, SCREENS_SEEN] if paths.screens else []
        return [*_in_memory(TMP_SEEN), *screens]
    return ["--bind", paths.tmp, TMP_SEEN]


def _in_memory(path: str) -> list[str]:
    return ["--perms", "1777", "--size", str(MEMORY_DISK_BYTES_MAX), "--tmpfs", path]


def _directory(path: str) -> list[str]:
    """Return the arguments that make a directory which everybody may enter. One that bwrap makes by
    itself, for what lies in it, could be entered by its owner only."""
    return ["--perms", "0755", "--dir", path]


def _read_only(*paths: str) -> list[str]:
    return [word for path in paths for word in ("--ro-bind-try", path, path)]


def _is_below(path: str, top: str) -> bool:
    return path.startswith(f"{top}/")
