"""The driver of the browser: it sees what a person sees, and can go red."""

import contextlib
import os
import subprocess
import sys
import threading

import pytest

from tests.e2e.processes import ROOT, eventually
from tests.web import browser as chromium
from tests.web import npm
from tests.web.hostile import HARM, SCRIPTS
from tests.web.page import a_page

FORM = """
<!doctype html><html lang=en><title>A form</title><main><h1>Form</h1>
<label>Name <input></label><button>Send</button><p role=status></p></main>
<script>
const [input, button, status] = ["input", "button", "p"].map(n => document.querySelector(n));
button.onclick = () => { status.textContent = `Hello, ${input.value}` };
input.onkeydown = event => { if (event.key == "Enter") button.click() };
</script>
"""
POLICY = '<meta http-equiv="Content-Security-Policy" content="script-src \'none\'">'


def of(text):
    return "data:text/html;charset=utf-8," + text.replace("\n", " ").replace("#", "%23")


@pytest.fixture
async def page(browser):
    async with a_page(browser) as page:
        yield page


async def test_a_page_is_used_by_the_names_that_a_screen_reader_says(page):
    await page.goto(of(FORM))

    await page.write("Name", "Zoë")
    await page.press("Enter")
    await page.until_text("Hello, Zoë", "[role=status]")
    await page.press("x")
    await page.click("button", "Send")

    await page.until_text("Hello, Zoëx")
    assert ("button", "Send") == await page.focused()
    assert ([], []) == (await page.faults_of_access(), page.unexpected)


async def test_what_is_covered_is_not_clicked(page, monkeypatch):
    await page.goto(of(FORM + "<div style='position:fixed;inset:0'>loading</div>"))
    button = await page.find("button", "Send")
    monkeypatch.setattr("tests.web.elements.PATIENCE_SECONDS", 0)

    with pytest.raises(AssertionError, match="loading"):
        await button.click()


MOVES = """
<button>Send</button><button onclick="this.textContent += '!'">Delete</button><script>
  const [send, other] = document.querySelectorAll("button");
  let moves = 3; /* what stands there when it is pressed is another button */
  send.onclick = () => { send.textContent = "Sent" };
  addEventListener("mousemove", () => {
    if (moves-- > 0) send.before(other); else other.before(send);
  });
</script>
"""


async def test_what_moves_away_under_the_pointer_is_clicked_later_and_nothing_else_is(page):
    await page.goto(of(MOVES))

    await page.click("button", "Send")

    await page.until_text("Sent")
    await page.find("button", "Delete")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("<script>console.error('no', 3)</script>", "console.error: no 3"),
        ("<script>null.x</script>", "TypeError"),
        ("<script>Promise.reject(new Error('late'))</script>", "late"),
        (POLICY + "<script>1</script>", "Content Security Policy"),
        ("<img src='http://127.0.0.1:9/x.png' alt=x>", "Failed to load"),
    ],
)
async def test_a_page_that_complains_is_noticed(page, text, complaint):
    await page.goto(of(text))

    async def is_noticed():
        return any(complaint in said for said in page.unexpected)

    await page.until_true(is_noticed, f"it complains of {complaint}")
    page.allow(".*")
    assert [] == page.unexpected


async def test_faults_of_access_are_found(page):
    await page.goto(of("<!doctype html><title>x</title><input><p style='color:#ccc'>pale"))

    found = {fault.partition(":")[0] for fault in await page.faults_of_access()}

    assert {"html-has-lang", "label", "color-contrast"} == found


HARMFUL = (
    *(text for text in SCRIPTS if "<" in text and "<math" not in text),
    "<a href='javascript:1'>a</a>",
    "<img alt=a src='https://evil.example/x.png'>",
    "<iframe></iframe>",
    "<p onclick='1'>a",
)


@pytest.mark.parametrize("text", HARMFUL)
async def test_harm_is_noticed(page, text):
    await page.goto(of(f"<title>x</title><style></style><textarea></textarea><main>{text}"))

    assert await page.js(HARM)


async def test_a_browser_without_network_has_none(page):
    await page.goto(of(FORM))

    async with page.offline():
        await page.until("!navigator.onLine")
    await page.until("navigator.onLine")


def openings(path):
    """Return how many descriptors of this process are open on a file."""
    found = 0
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            found += os.readlink(f"/proc/self/fd/{name}") == str(path)
    return found


def test_a_folder_is_made_once_by_all_who_ask_at_once(tmp_path):
    made = []

    def make(folder):
        made.append(folder)
        eventually(lambda: 4 == openings(tmp_path / "it.lock"), "all of them wait")
        folder.mkdir()

    asking = [
        threading.Thread(target=npm.kept, args=(tmp_path / "it", make), daemon=True)
        for _ in range(4)
    ]
    for each in asking:
        each.start()
    for each in asking:
        each.join()

    assert 1 == len(made)
    assert ["it", "it.lock"] == sorted(os.listdir(tmp_path))


def test_who_waited_for_a_folder_that_could_not_be_made_does_not_try_again(tmp_path):
    tries, refusals = [], []

    def make(folder):
        tries.append(folder)
        eventually(lambda: 3 == openings(tmp_path / "it.lock"), "all of them wait")
        raise npm.Unavailable("no network")

    def ask():
        with pytest.raises(npm.Unavailable, match="no network") as refusal:
            npm.kept(tmp_path / "it", make)
        refusals.append(refusal)

    asking = [threading.Thread(target=ask, daemon=True) for _ in range(3)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()

    assert (1, 3) == (len(tries), len(refusals))


def test_a_package_that_is_not_what_its_hash_says_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(npm.PINS, "axe-core", (npm.PINS["axe-core"][0], "sha512-nothing"))
    if isinstance(chromium.look_up(), str):
        npm.leave_out(chromium.look_up())

    with pytest.raises(npm.Unavailable, match="is not what its hash says"):
        npm.fetch("axe-core", tmp_path / "axe")


ALONE = """
import pathlib, sys
import pytest
from tests.web import npm

npm.HOME = pathlib.Path(sys.argv[1])
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", sys.argv[2]]))
"""


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("1", 1)])
def test_without_a_browser_the_run_says_what_to_do_and_is_red_in_ci_only(tmp_path, ci, code):
    test = f"{__file__}::test_faults_of_access_are_found"
    cache = str(tmp_path / "empty")
    nowhere = {"npm_config_offline": "true", "npm_config_cache": cache, "PATH": cache, "CI": ci}
    inherited = {n: v for n, v in os.environ.items() if not n.startswith(("PYTEST", "PROMPT"))}

    done = subprocess.run(
        [sys.executable, "-c", ALONE, tmp_path, test],
        env={**inherited, **nowhere},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert code == done.returncode, done.stdout
    assert "1 test of the web pages did not run: no browser: npm cannot fetch" in done.stdout
    assert "name a Chromium in PROMPTCORNER_BROWSER" in done.stdout
