"""What ends commands when this process is gone, however it went.

A small shell at the other end of a pipe, told of every process group that begins and ends. When
the pipe closes, which the kernel sees to, it kills the groups that are left and leaves.
"""

import signal
from contextlib import suppress
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

from adapters.workspace.sandbox import USUAL_PATH

LEAVE_SECONDS = 2.0  # for it to go when all is over; then it is killed

_SHELL = """
trap '' INT TERM HUP
alive=' '
while read -r sign group; do
  case $sign in
    +) alive="$alive$group " ;;
    -) case $alive in *" $group "*) alive="${alive%%" $group "*} ${alive#*" $group "}" ;; esac ;;
  esac
done
for group in $alive; do kill -KILL "-$group"; done
"""


class Lifeline:
    """Begun with the first command."""

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._shell: Popen[bytes] | None = None

    def add(self, group: int) -> None:
        self._tell(f"+ {group}\n")
        self._groups.add(group)

    def forget(self, group: int) -> None:
        """Before its number can be given to others."""
        if group in self._groups:
            self._groups.discard(group)
            with suppress(OSError):  # nobody could be begun in place of one who is gone
                self._tell(f"- {group}\n")

    def close(self) -> None:
        shell, self._shell = self._shell, None
        if shell is not None:
            _leave(shell)

    def _tell(self, line: str) -> None:
        """If nobody hears it any more, somebody else is told everything."""
        shell = self._shell
        if shell is not None:
            try:
                _write(shell, line)
            except BrokenPipeError:
                self._shell = None
                _leave(shell)
        if self._shell is None:
            self._shell = _begun()
            known = "".join(f"+ {group}\n" for group in self._groups)
            _write(self._shell, known + line)


def _begun() -> Popen[bytes]:
    return Popen(
        ["sh", "-c", _SHELL],
        stdin=PIPE,
        stdout=DEVNULL,
        stderr=DEVNULL,
        cwd="/",
        env={"PATH": USUAL_PATH},
        start_new_session=True,
        bufsize=0,
    )


def _write(shell: Popen[bytes], text: str) -> None:
    assert shell.stdin is not None, "it was begun with a pipe"
    shell.stdin.write(text.encode())


def _leave(shell: Popen[bytes]) -> None:
    assert shell.stdin is not None, "it was begun with a pipe"
    shell.stdin.close()
    try:
        shell.wait(LEAVE_SECONDS)
    except TimeoutExpired:
        shell.send_signal(signal.SIGKILL)
        shell.wait()
