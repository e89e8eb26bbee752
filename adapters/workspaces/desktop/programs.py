"""The programs that a desktop is made of, and the script that starts them in the sandbox. Pure,
but for a look at which programs are installed.

Xvnc is the screen and serves it at a socket in a directory that no command of a chat sees. A window
manager runs on it. Everything ends when Xvnc does, and Xvnc ends when it has had no client for a
while: so a desktop that is not used any more goes by itself, whichever process began it.
"""

import importlib.util
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from actors.tools.desktop.geometry import NATIVE
from adapters.workspaces.commands.sandbox import DEFAULT_PATH

XVNC, WINDOW_MANAGER = "Xvnc", "openbox"
INSTALL = "apt-get install tigervnc-standalone-server openbox"
INSTALL_EXTRA = "pip install 'promptcorner[desktop]'"
SOCKET, CONFIGURATION = "rfb", "openbox.xml"  # in the directory of a desktop
# Where the screen listens until the window manager is there: a window that a program shows in the
# moment in which the manager takes over would never be seen.
EARLY_SOCKET = "rfb.new"
TAKEN = 75  # the exit code where another process has started the desktop
UNUSED_SECONDS = 1_500  # without any client; then the screen ends itself
# Of pictures that a client is sent in a second. Watchers of a video see it a little less smooth.
PICTURES_PER_SECOND = 30


@dataclass(frozen=True, slots=True)
class MissingPrograms:
    """The reason why there are no desktops on this machine, and what to do about it."""

    why: str

    @property
    def says(self) -> str:
        return f"there is no desktop here: {self.why}"


def missing_programs(environ: Mapping[str, str]) -> MissingPrograms | None:
    """Return what is missing for desktops, or None if nothing is."""
    path = environ.get("PATH", DEFAULT_PATH)
    absent = [name for name in (XVNC, WINDOW_MANAGER) if shutil.which(name, path=path) is None]
    if absent:
        are = "is" if len(absent) == 1 else "are"
        return MissingPrograms(
            f"{' and '.join(absent)} {are} not installed; the operator of the server can install"
            f" them, on Debian and Ubuntu by {INSTALL}"
        )
    if importlib.util.find_spec("PIL") is None:
        return MissingPrograms(
            "Pillow is not installed, which packs screenshots; the operator of the server can"
            f" install it by {INSTALL_EXTRA}"
        )
    return None


def missing_for_recordings() -> str | None:
    """Return why desktops are not recorded here, or None if they are."""
    if importlib.util.find_spec("imageio_ffmpeg") is None:
        return (
            "imageio-ffmpeg is not installed, which packs recordings; the operator of the server"
            f" can install it by {INSTALL_EXTRA}"
        )
    return None


def start_script(directory: str, display: str, *, is_private: bool) -> str:
    """Return the script that is the desktop, for the shell.

    `directory` is where its socket comes to be, as the script sees it. `is_private`: /tmp belongs
    to this workspace, so that a lock in it is one that a killed desktop has left.
    """
    number = display.removeprefix(":")
    leftovers = f"rm -f /tmp/.X{number}-lock /tmp/.X11-unix/X{number}" if is_private else ":"
    return f"""\
umask 077
cd '{directory}' || exit
if command -v flock > /dev/null; then exec 9> lock; flock -n 9 || exit {TAKEN}; fi
rm -f {SOCKET} {EARLY_SOCKET}
mkdir -p -m 1777 /tmp/.X11-unix
{leftovers}
export XDG_CACHE_HOME="$TMPDIR/.cache"
{XVNC} {display} -geometry {NATIVE} -depth 24 -rfbport -1 -rfbunixpath {EARLY_SOCKET} \
  -SecurityTypes None -AlwaysShared -nolisten tcp -nolisten local -desktop desktop \
  -FrameRate {PICTURES_PER_SECOND} -MaxDisconnectionTime {UNUSED_SECONDS} &
screen=$!
until [ -S {EARLY_SOCKET} ]; do kill -0 $screen 2> /dev/null || break; sleep 0.02; done
DISPLAY={display} {WINDOW_MANAGER} --config-file "$PWD/{CONFIGURATION}" \
  --startup "mv -f '$PWD/{EARLY_SOCKET}' '$PWD/{SOCKET}'" &
wait $screen
"""


# Windows are moved by their titles, brought forward by a click, and closed by Alt+F4. The menu of
# the root window is left out: it would offer programs that are not there.
_RAISED = '<action name="Focus"/><action name="Raise"/></mousebind>'
_TITLES = "Titlebar Top Right Bottom Left TLCorner TRCorner BRCorner BLCorner"
WINDOW_MANAGER_CONFIGURATION = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <focus><focusNew>yes</focusNew><followMouse>no</followMouse></focus>
  <placement><policy>Smart</policy><center>yes</center></placement>
  <theme><name>Clearlooks</name><titleLayout>LIMC</titleLayout></theme>
  <desktops><number>1</number></desktops>
  <keyboard>
    <keybind key="A-F4"><action name="Close"/></keybind>
    <keybind key="A-Tab"><action name="NextWindow"/></keybind>
    <keybind key="A-S-Tab"><action name="PreviousWindow"/></keybind>
  </keyboard>
  <mouse>
    <dragThreshold>3</dragThreshold>
    <context name="Titlebar">
      <mousebind button="Left" action="Drag"><action name="Move"/></mousebind>
      <mousebind button="Left" action="DoubleClick"><action name="ToggleMaximize"/></mousebind>
    </context>
    <context name="{_TITLES}">
      <mousebind button="Left" action="Press">{_RAISED}
    </context>
    <context name="Frame">
      <mousebind button="A-Left" action="Drag"><action name="Move"/></mousebind>
    </context>
    <context name="Top Right Bottom Left TLCorner TRCorner BRCorner BLCorner">
      <mousebind button="Left" action="Drag"><action name="Resize"/></mousebind>
    </context>
    <context name="Client">
      <mousebind button="Left" action="Press">{_RAISED}
      <mousebind button="Middle" action="Press">{_RAISED}
      <mousebind button="Right" action="Press">{_RAISED}
    </context>
    <context name="Close">
      <mousebind button="Left" action="Click"><action name="Close"/></mousebind>
    </context>
    <context name="Maximize">
      <mousebind button="Left" action="Click"><action name="ToggleMaximize"/></mousebind>
    </context>
    <context name="Iconify">
      <mousebind button="Left" action="Click"><action name="Iconify"/></mousebind>
    </context>
  </mouse>
</openbox_config>
"""
