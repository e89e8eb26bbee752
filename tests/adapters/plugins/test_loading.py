"""What is loaded of a distribution, and in which words it is refused."""

import re
import subprocess
import sys

import pytest

from adapters.plugins.loading import canonical_name, installed_plugins
from adapters.plugins.plugins import open_plugins

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
]


@pytest.mark.parametrize(("line", "words"), BAD_PROVIDERS)
async def test_a_provider_that_cannot_be_listed_is_refused(install, line, words):
    code = f"class Bad(ext.ModelProvider):\n    {line}\n    async def stream(self, prompt): ...\n"

    statistics = await state_of(install("bad", code, providers="Bad"))

    assert words in statistics.why


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


async def test_a_plugin_that_does_not_come_to_the_end_of_its_import_is_left_out(install, bounds):
    bounds(LOAD_SECONDS=2)  # in which the other one loads on a busy machine, too
    slow = install("slow", "time.sleep(4)", tools="weather")
    install("good", GOOD, tools="weather")

    async with open_plugins([slow, "good"]) as plugins:
        states = {name: each.state for name, each in plugins.statistics().items()}
        why = plugins.statistics()["slow"].why

    assert {"slow": "not loaded", "good": "running"} == states
    assert "did not load within 2 s, it was in <module> (" in why


def test_names_of_distributions_are_compared_as_everywhere():
    assert "a-b-c" == canonical_name("A_b.-C")
