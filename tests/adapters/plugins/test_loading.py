"""What is loaded of a distribution, and in which words it is refused."""

import re
import subprocess
import sys
import threading

import pytest
import trio
from trio.testing import MockClock

from adapters.plugins.loading import canonical_name, installed_plugins
from adapters.plugins.loop import LOAD_SECONDS, PluginLoop
from adapters.plugins.plugins import open_plugins
from tests.patience import PATIENCE_SECONDS

GOOD = """
@ext.tool
async def weather(city: str) -> str:
    "Say the weather."
    return city

@ext.tool
async def tides(city: str) -> str:
    "Say the tides."
    return city

both = [weather, tides]

class Parrot(ext.ModelProvider):
    name, models = "parrot", [ext.PluginModel("grey")]
    async def stream(self, prompt):
        yield ext.Finished(ext.FinishReason.STOP)

class Header(ext.IdentitySource):
    async def identify(self, request):
        return None
"""


async def state_of(name):
    async with open_plugins([name]) as plugins:
        [statistics] = plugins.statistics().values()
        return statistics


async def test_a_plugin_brings_what_its_entry_points_name(install, entries):
    install("Good_Plugin", GOOD, tools="both", providers="Parrot", identity="Header")

    async with open_plugins(["good.plugin"]) as plugins:
        [plugin] = plugins
        parts = plugin.parts
        statistics = plugins.statistics()["good-plugin"]

    assert ["weather", "tides"] == [tool.name for tool in parts.tools]
    assert ["parrot"] == [provider.name for provider in parts.providers]
    assert ["Header"] == [type(source).__name__ for source in parts.sources]
    assert ("running", "1.2.3", True) == (statistics.state, statistics.version, statistics.running)
    brings = "tools weather, tides; models parrot/grey; an identity source"
    assert brings == statistics.brings
    [loaded] = entries.of("plugin.loaded")
    assert ("good-plugin", "1.2.3", brings) == tuple(loaded.values())


async def test_nothing_of_a_plugin_is_imported_that_is_not_named(install):
    name = install("not-named", "raise SystemExit", tools="weather")

    async with open_plugins(["another"]):
        pass

    assert name in installed_plugins()
    [module] = {point.module for point in installed_plugins()[name].entry_points}
    assert module not in sys.modules


async def test_without_names_there_are_no_threads_and_no_plugins():
    async with open_plugins([]) as plugins:
        assert {} == plugins.statistics()


def test_a_daemon_without_plugins_loads_no_pydantic():
    code = "import adapters.daemon.daemon, sys; print('pydantic' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "False" == done.stdout.strip()


CHANGED = GOOD + "import dataclasses\nweather = dataclasses.replace(weather, {})"
BAD = [
    ("import no_such_module", "could not be imported: ModuleNotFoundError"),
    ("raise SystemExit", "raised SystemExit when it was loaded"),
    ("weather = 5", r"\(promptcorner.tools\) is a int, must be a PluginTool"),
    ("pass", "could not be imported: AttributeError"),
    ("PROMPTCORNER_API = 99", "written for version 99 of promptcorner.ext, and this daemon has 1"),
    ("del PROMPTCORNER_API", "needs a line PROMPTCORNER_API = 1"),
    ("weather = []", "brings nothing"),
    (
        '@ext.tool\nasync def execute(city: str):\n    "Run."\nweather = execute',
        "its tool execute is called like one of the daemon's own",
    ),
    (GOOD + "weather = [weather, weather]", "brings two tools called weather"),
    (CHANGED.format("name='the weather'"), "tool 'the weather': a name has 1 to 64 letters"),
    (CHANGED.format("name='a' * 65"), "a name has 1 to 64 letters"),
    (CHANGED.format("name=None"), "tool None: a name has 1 to 64 letters"),
    (CHANGED.format("description=''"), "tool weather: it needs a docstring of up to 8192"),
    (CHANGED.format("schema='{'"), "tool weather: its schema is no JSON object"),
    (CHANGED.format("schema='[]'"), "tool weather: its schema is no JSON object"),
    (CHANGED.format("schema=None"), "tool weather: its schema is no JSON object"),
    (CHANGED.format("consent='maybe'"), "tool weather: consent is 'maybe', must be never"),
    (CHANGED.format("seconds=None"), "tool weather: seconds are None, must be more than 0"),
    (CHANGED.format("seconds=5000"), "tool weather: seconds are 5000, must be more than 0"),
    (
        "class Mute(Exception):\n    def __str__(self):\n        raise KeyError\nraise Mute",
        "could not be imported: Mute",
    ),
    ("@ext.tool\nasync def weather(city):\n    'Say.'", "tool weather: the parameter city has no"),
]


@pytest.mark.parametrize(("code", "words"), BAD)
async def test_a_plugin_that_cannot_be_used_is_named_and_says_why(install, code, words, entries):
    name = install("bad", code, tools="weather")

    statistics = await state_of(name)

    assert re.search(words, statistics.why), statistics.why
    assert ("not loaded", False) == (statistics.state, statistics.running)
    [failed] = entries.of("plugin.failed")
    assert ("bad", statistics.why) == (failed["plugin"], failed["why"])


BAD_PROVIDERS = [
    ('name = "Grey Parrot"', "has lower-case letters"),
    ("pass", "not None"),
    ('name, models = "grey", []', "must have 1 to 128"),
    ('name, models = "grey", [ext.PluginModel("a")] * 2', "two models of one name"),
    ('name, models = "grey", [ext.PluginModel("")]', "without a usable name"),
    ('name, models = "grey", [ext.PluginModel("a", -1)]', "must be above 0"),
    ('name, models = "grey", ["a"]', "no list of PluginModel"),
    ('name, models = "grey", [ext.PluginModel("a", 2**63)]', "and up to 9007199254740991"),
    ('name, models = "openai", [ext.PluginModel("a")]', "openai is called like one of the daemon"),
    ('name, models = "rehearsal", [ext.PluginModel("a")]', "is called like one of the daemon's"),
]


@pytest.mark.parametrize(("line", "words"), BAD_PROVIDERS)
async def test_a_provider_that_cannot_be_listed_is_refused(install, line, words):
    code = f"class Bad(ext.ModelProvider):\n    {line}\n    async def stream(self, prompt): ...\n"

    statistics = await state_of(install("bad", code, providers="Bad"))

    assert words in statistics.why


async def test_a_plugin_without_a_thread_is_left_out(install, monkeypatch, entries):
    install("good", GOOD, tools="both")

    def refused(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refused)
    statistics = await state_of("good")

    assert "not loaded" == statistics.state
    assert "can't start new thread" in statistics.why
    assert [] == entries.of("plugin.left")


async def test_a_plugin_whose_loop_cannot_begin_is_left_out_at_once(install, monkeypatch):
    install("good", GOOD, tools="both")

    def refused(work, *arguments):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("adapters.plugins.loop.names.run", refused)
    with trio.fail_after(PATIENCE_SECONDS):
        statistics = await state_of("good")

    assert "not loaded" == statistics.state
    assert "its event loop has ended: OSError: [Errno 24] Too many open files" == statistics.why


DYING = """
async def die():
    open({marker!r}, "w").close()
    raise KeyError
trio.lowlevel.spawn_system_task(die)
"""
LASTING = """
import os, threading
while not os.path.exists({marker!r}):
    time.sleep(0.01)
for thread in threading.enumerate():
    if thread.name == "plugin dead":
        thread.join()
"""


async def test_a_loop_that_ends_while_others_are_loaded_is_not_asked(
    install, bounds, tmp_path, entries
):
    bounds(LOAD_SECONDS=PATIENCE_SECONDS)
    marker = str(tmp_path / "dying")
    install("dead", DYING.format(marker=marker) + GOOD, tools="both")
    install("slow", LASTING.format(marker=marker) + GOOD, providers="Parrot")

    async with open_plugins(["dead", "slow"]) as plugins:
        states = {name: each.state for name, each in plugins.statistics().items()}

    assert {"dead": "ended", "slow": "running"} == states
    assert ["dead"] == [entry["plugin"] for entry in entries.of("plugin.ended")]


async def test_a_distribution_that_cannot_be_read_hides_no_other(install, tmp_path, entries):
    install("good", GOOD, tools="both")
    broken = tmp_path / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (broken / "entry_points.txt").write_text("[promptcorner.tools]\nno object\n")

    statistics = await state_of("good")

    assert "running" == statistics.state
    [unreadable] = entries.of("plugin.unreadable")
    assert str(broken) == unreadable["distribution"]


async def test_a_plugin_that_is_not_installed_is_named():
    statistics = await state_of("nowhere")

    assert ("not loaded", "") == (statistics.state, statistics.version)
    assert "is not installed" in statistics.why


async def test_of_two_plugins_with_one_tool_the_first_is_used(install):
    install("first", GOOD, tools="weather")
    install("second", GOOD, tools="both")

    async with open_plugins(["first", "second"]) as plugins:
        states = {name: each.state for name, each in plugins.statistics().items()}
        why = plugins.statistics()["second"].why

    assert {"first": "running", "second": "not loaded"} == states
    assert "another plugin has a tool weather, too" == why


@pytest.fixture
def leaping_clock():
    """Goes with the wall, for threads take their time; and leaps when told to."""
    return MockClock(rate=1)


@pytest.fixture
def loaded(monkeypatch):
    """The names of the plugins that have come to the end of their import."""
    names, note = [], PluginLoop._note_loaded

    def noted(loop, outcome):
        note(loop, outcome)
        names.append(loop.name)

    monkeypatch.setattr(PluginLoop, "_note_loaded", noted)
    return names


@pytest.fixture
def let_go():
    """An event by which a plugin waits until the test is over."""
    made = sys.let_go = threading.Event()
    yield made
    made.set()
    del sys.let_go


async def test_a_plugin_that_does_not_come_to_the_end_of_its_import_is_left_out(
    leaping_clock, install, bounds, loaded, let_go
):
    bounds(LEAVE_SECONDS=0.1)
    slow = install("slow", "import sys; sys.let_go.wait()", tools="weather")
    install("good", GOOD, tools="weather")

    async def leap_when_the_other_one_is_there():
        while "good" not in loaded:
            await trio.sleep(0.005)
        leaping_clock.jump(LOAD_SECONDS)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(leap_when_the_other_one_is_there)
        async with open_plugins([slow, "good"]) as plugins:
            states = {name: each.state for name, each in plugins.statistics().items()}
            why = plugins.statistics()["slow"].why

    assert {"slow": "not loaded", "good": "running"} == states
    assert f"did not load within {LOAD_SECONDS:g} s, it was in <module> (" in why


def test_names_of_distributions_are_compared_as_everywhere():
    assert "a-b-c" == canonical_name("A_b.-C")
