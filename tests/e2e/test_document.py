"""The document at /openapi.json against the daemon: whatever it allows is answered as it says.

An admin tries every operation with every bound of each of its parameters, and with some examples.
Who is no admin tries every operation with examples: what differs for him is whether he may, and
what is asked of him then is read by the same code. `make soak` tries all of it as both, by
PROMPTCORNER_DOCUMENT_EXAMPLES.
"""

import os
import subprocess
import sys

import pytest

from tests.e2e.daemons import a_daemon, run
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

TOKEN = "an-admin-token-of-the-end-to-end-tests"
EXAMPLES_VARIABLE = "PROMPTCORNER_DOCUMENT_EXAMPLES"
EXAMPLES = 3  # for each of some 250 operations, beside those that cover its parameters
SECONDS_MAX = 1200  # on a busy machine; alone it takes about 40
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
# Not HTTP after the first line, or the end of the very token that asks, or answered with 500
# because clients expect that, or refused in the words of another protocol.
BUT = r"/(stream|watch|sse|logout|inbox/\{notification\}|diff)(/|$)|/mcp/http"


@pytest.mark.timeout(SECONDS_MAX)
@pytest.mark.parametrize("is_admin", [True, False])
def test_whatever_the_document_allows_is_answered_as_it_says(home, tmp_path, is_admin):
    examples = os.environ.get(EXAMPLES_VARIABLE)
    phases = "coverage,fuzzing" if is_admin or examples else "fuzzing"
    with a_daemon(home, PROMPTCORNER_ADMIN_TOKEN=TOKEN) as daemon:
        url = f"http://{daemon.wait_ready()['listen']}"
        token = TOKEN if is_admin else token_of_a_member(url)
        words = [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{url}/openapi.json"),
            *("-H", f"Coder-Session-Token: {token}", "-H", "X-Coder-Bypass-Ratelimit: true"),
            *("--checks", ",".join(CHECKS), "--phases", phases, "-n", examples or str(EXAMPLES)),
            *(
                "--exclude-path-regex",
                BUT,
                "--exclude-deprecated",
                "--no-shrink",
                "--continue-on-failure",
            ),
            *("--suppress-health-check", "all", "--warnings", "off", "--seed", "1"),
            *("--request-timeout", str(PATIENCE_SECONDS)),
        ]

        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=False)

        assert 0 == done.returncode, done.stdout[-5000:] + done.stderr[-2000:]
        assert None is daemon.entry("request.crashed")


def token_of_a_member(url):
    said = {"PROMPTCORNER_URL": url, "PROMPTCORNER_TOKEN": TOKEN}
    for words in (("users", "create", "mia"), ("tokens", "create", "tests", "--user", "mia")):
        code, out, errors = run(*words, **said)
        assert 0 == code, errors
    return out.strip()
