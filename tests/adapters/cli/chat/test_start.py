"""What commands load: none but `chat` loads the prompt, and that only at a terminal."""

import subprocess
import sys

import pytest

from tests.e2e.daemons import environment

LOOK = """
import sys
from adapters.cli.main import parser
parser({command!r})
{more}
sys.exit("prompt_toolkit" in sys.modules)
"""


@pytest.mark.parametrize(
    ("command", "more"),
    [("serve", "import adapters.daemon.daemon"), ("providers", ""), ("users", "")],
)
def test_other_commands_load_no_prompt(command, more):
    code = LOOK.format(command=command, more=more)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False
    )

    assert (0, "") == (done.returncode, done.stderr)
