"""Check the types of the page's scripts, as `make check` does: JSDoc in, complaints out.

    .venv/bin/python -m tests.web.check_scripts

The compiler comes from npm, once. Where it cannot be had this is said in a line; that is a failure
only where CI is set.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.web import npm

PROJECT = Path(__file__).with_name("tsconfig.json")
FETCH_SECONDS_MAX = 60  # then the compiler cannot be had
AGAIN_SECONDS = 600  # after a failure nothing is tried for so long, so that `make check` stays fast


def found() -> Path:
    """Return the folder of the compiler. Raises npm.Unavailable."""
    return npm.package("typescript", seconds=FETCH_SECONDS_MAX, again_seconds=AGAIN_SECONDS)


def main() -> int:
    """Return the compiler's exit code; 0 without one, and 1 without one where CI is set."""
    try:
        compiler = found() / "bin" / "tsc"
        node = npm.program()
    except npm.Unavailable as why:
        sys.stderr.write(f"the types of the page's scripts were not checked: {why}\n")
        return 1 if os.environ.get("CI") else 0
    return subprocess.run([node, compiler, "--project", PROJECT], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
