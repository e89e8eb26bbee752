"""Draw where the time goes: `python -m bench.profile paced`, a flame graph in `build/`.

`paced` and `saturated` are loads of a whole daemon, whose process py-spy looks at from outside; any
other word is a module of `bench`, whose own process it looks at.
"""

import signal
import subprocess
import sys
from pathlib import Path

from adapters.cli.admin.connection import DaemonClient
from adapters.cli.bench import targets
from adapters.cli.bench.plan import Pace, default_chats, load_of
from adapters.cli.bench.running import run_row
from adapters.cli.bench.starting import a_daemon, a_provider
from bench.__main__ import MODULES

BUILD = Path(__file__).parents[1] / "build"
PY_SPY = Path(sys.executable).with_name("py-spy")
RATE = 200  # looks a second
TOKEN = "a-token-of-the-bench-0123456789"
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
    load = load_of(pace, {}, chats)
    with (
        a_provider(load) as (provider, pid),
        a_daemon("promptcorner", provider, TOKEN, {}) as daemon,
    ):
        with DaemonClient(daemon.url, TOKEN) as client:
            target = targets.target_of(client, TOKEN, model=None, provider=provider)
        with subprocess.Popen([*record, "--pid", str(daemon.pid)]) as looking:
            run_row("promptcorner", load, target, provider=pid, daemon=daemon, pins=False)
            looking.send_signal(signal.SIGINT)  # it then writes the picture
            looking.wait(WRITE_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
