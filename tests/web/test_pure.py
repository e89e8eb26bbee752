"""The rules of the page that need no browser: `node --test` over tests/web/pure.

Where node cannot be had they are left out, but not where CI is set. `PURE_TIMES=50` makes that
many times as many random cases.
"""

import os
import subprocess
from pathlib import Path

from tests.web import npm

HERE = Path(__file__).parent / "pure"
SECONDS_MAX = 300  # a hang; a quiet machine takes ten


def test_the_rules_of_the_page():
    try:
        program = npm.program()
    except npm.Unavailable as why:
        npm.leave_out(f"the page's rules: {why}")
    files = [str(path) for path in sorted(HERE.glob("*.test.js"))]
    done = subprocess.run(
        [program, "--test", "--test-force-exit", "--test-reporter=spec", *files],
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX * int(os.environ.get("PURE_TIMES", "1")),
        check=False,
    )
    assert 0 == done.returncode, done.stdout[-6000:] + done.stderr[-2000:]
