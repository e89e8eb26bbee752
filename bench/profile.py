"""Draw where the time goes: `python -m bench.profile paced`, a flame graph in `build/`.

`paced` and `saturated` are loads of a whole daemon, whose process py-spy looks at from outside; any
other word is a module of `bench`, whose own process it looks at.
"""

import signal
import subprocess
import sys
from pathlib import Path

from adapters.cli.bench.plan import Pace, default_chats
from bench.__main__ import MODULES
from bench.loads import a_load, a_loaded_daemon

BUILD = Path(__file__).parents[1] / "build"
PY_SPY = Path(sys.executable).with_name("py-spy")
RATE = 200  # looks a second
WRITE_SECONDS = 60.0  # for the picture to be written


def main() -> int:
    what = sys.argv[1] if len(sys.argv) == 2 else ""
    BUILD.mkdir(exist_ok=True)
    picture = BUILD / f"profile-{what}.svg"
    record = [str(PY_SPY), "record", f"--rate={RATE}", "--output", str(picture)]
    if what in ("paced", "saturated"):
        _of_daemon("paced" if what == "paced" else "saturated", record)
    elif what in MODULES:
        code = f"from bench.{what} import measure; print(measure())"
        subprocess.run([*record, "--", sys.executable, "-c", code], check=True)
    else:
        print(f"profile: name one of paced, saturated, {', '.join(MODULES)}")
        return 2
    print(picture)
    return 0


def _of_daemon(pace: Pace, record: list[str]) -> None:
    [chats] = default_chats(pace)
    load = a_load(pace, chats)
    with (
        a_loaded_daemon(load) as loaded,
        subprocess.Popen([*record, "--pid", str(loaded.daemon.pid)]) as looking,
    ):
        loaded.row(load)
        looking.send_signal(signal.SIGINT)  # it then writes the picture
        looking.wait(WRITE_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
