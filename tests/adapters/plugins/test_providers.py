"""Providers of plugins: their answers arrive as those of vendors, and their faults as failures."""

import pytest
import trio

from actors.law.parts import deltas
from actors.law.parts.deltas import FailureKind
from actors.law.parts.prompt import Prompt
from adapters.models.connecting import connect
from adapters.models.provider_config import models_of_environment
from adapters.plugins import providers
from adapters.plugins.plugins import open_plugins
from adapters.plugins.providers import plugin_models
from adapters.settings.refusals import CannotStart
from promptcorner.ext.testing import check_stream, hello
from tests.patience import PATIENCE_SECONDS

CODE = """
import enum
TEXT, END = ext.TextDelta("0", "hello"), ext.TextEnded("0")
OVER = ext.AnswerFinished(ext.FinishReason.STOP)
USED = ext.UsageReported(ext.TokenUsage(1, 2))

async def good():
    for delta in (TEXT, END, ext.ToolCall("c", "f", "{}"), USED, OVER):
        await trio.lowlevel.checkpoint()
        yield delta
    raise AssertionError("nobody asks for more")

async def unended():
    yield TEXT

async def crash():
    yield TEXT
    raise KeyError("a secret")

async def throttled():
    raise ext.ProviderError("Come back later.", kind=ext.FailureKind.RATE_LIMIT, retryable=True,
        retry_after_seconds=3)
    yield

async def flood():
    while True:
        yield TEXT

async def slow():
    while True:
        await trio.sleep(0.01)
        yield TEXT

async def silent():
    await trio.sleep_forever()
    yield

async def strange():
    yield "hello"

async def untyped():
    yield ext.TextDelta("0", 5)

async def untidy():
    yield ext.TextEnded("0", metadata="{")

async def half():
    yield ext.TextDelta("0", "\\ud800")

async def negative():
    yield ext.UsageReported(ext.TokenUsage(-1))

async def shallow():
    yield ext.AnswerFinished("stop")

async def own():
    yield ext.ToolCall("c", "web_search", "{}", provider_executed=True)

async def endless():
    yield ext.UsageReported(ext.TokenUsage(2**63))

async def texted():
    raise ext.ProviderError("no", retry_after_seconds="3")
    yield

async def unknown():
    raise ext.ProviderError("no", retry_after_seconds=None)
    yield

async def never():
    raise ext.ProviderError("no", retry_after_seconds=float("nan"))
    yield

async def unkind():
    raise ext.ProviderError("no", kind="rate_limit")
    yield

class BareError(ext.ProviderError):
    def __init__(self):
        Exception.__init__(self, "no")

async def bare():
    raise BareError
    yield

class MuteError(ext.ProviderError):
    def __str__(self):
        raise KeyError

async def mute():
    raise MuteError("")
    yield

async def wordy():
    raise ext.ProviderError("x" * 100_000)
    yield

async def failed():
    from actors.law.parts.deltas import AnswerFailed
    yield AnswerFailed(None)

KINDS = {each.__name__: each for each in (good, unended, crash, throttled, flood, slow, silent,
    strange, untyped, untidy, half, negative, shallow, own, endless, texted, unknown, never, unkind,
    bare, mute, wordy, failed)}

class Parrot(ext.ModelProvider):
    name = "parrot"
    models = [ext.PluginModel(name) for name in KINDS] + [ext.PluginModel("big", 9000)]
    def stream(self, prompt):
        return KINDS[prompt.model]()
"""


@pytest.fixture
async def plugins(install):
    install("birds", CODE, providers="Parrot")
    async with open_plugins(["birds"]) as plugins:
        yield plugins


@pytest.fixture
async def provider(plugins):
    return connect(plugin_models(plugins)[0], None)


async def heard(provider, model):
    said = []
    async with provider.stream(Prompt(model, ())) as batches:
        async for batch in batches:
            said += batch
    return said


async def failure(provider, model):
    *_, last = await heard(provider, model)
    assert isinstance(last, deltas.AnswerFailed)
    return last.failure


async def test_an_answer_arrives_as_it_is_said(provider):
    said = await heard(provider, "good")

    assert ["TextDelta", "TextEnded", "ToolCall", "UsageReported", "AnswerFinished"] == [
        type(delta).__name__ for delta in said
    ]
    answer = await provider.generate(Prompt("good", ()))
    assert (1, 2) == (answer.usage.input_tokens, answer.usage.output_tokens)


async def test_it_passes_the_checks_that_the_providers_of_vendors_pass(provider):
    async def stream(prompt):
        async with provider.stream(prompt) as batches:
            async for batch in batches:
                for delta in batch:
                    yield delta

    await check_stream("parrot/good", stream, hello("good"))


FAULTS = {
    "unended": "its answer has no end: AnswerFinished is missing",
    "crash": "the log of the server says how",
    "strange": "it said a str, which is no delta",
    "untyped": "text of its TextDelta is a int, must be str",
    "untidy": "metadata of its TextEnded is not JSON",
    "half": "text of its TextDelta has half a character",
    "negative": "input_tokens of its TokenUsage is below 0",
    "shallow": "reason of its AnswerFinished is a str, must be FinishReason",
    "own": "it said that it runs tools itself, which only vendors can",
    "failed": "it said a AnswerFailed, which is no delta",
    "endless": "input_tokens of its TokenUsage is above 9007199254740991",
    "texted": "retry_after_seconds of its ProviderError is a str, must be int or float",
    "unknown": "retry_after_seconds of its ProviderError is a NoneType, must be int or float",
    "never": "retry_after_seconds of its ProviderError is nan",
    "unkind": "kind of its ProviderError is a str, must be FailureKind",
    "bare": "kind of its BareError is a NoneType, must be FailureKind",
    "mute": "its MuteError cannot be read",
}


@pytest.mark.parametrize("model", FAULTS)
async def test_a_fault_is_a_failure_that_names_the_plugin(provider, plugins, model, entries):
    found = await failure(provider, model)

    assert f"The plugin birds failed: {FAULTS[model]}." == found.message
    assert (FailureKind.GENERIC, False, "plugin") == (found.kind, found.retryable, found.provider)
    assert 1 == plugins.statistics()["birds"].failed_count
    [entry] = entries.of("plugin.call_failed")
    assert ("birds", "parrot") == (entry["plugin"], entry["provider"])


async def test_an_answer_that_failed_is_no_answer(provider):
    found = await provider.generate(Prompt("crash", ()))

    assert "The plugin birds failed: the log of the server says how." == found.message


async def test_what_a_provider_raises_on_purpose_is_told_in_its_words(provider, entries):
    found = await failure(provider, "throttled")

    assert ("Come back later.", True, 3) == (
        found.message,
        found.retryable,
        found.retry_after_seconds,
    )
    assert found.kind is FailureKind.RATE_LIMIT
    assert [] == entries.of("plugin.call_failed")


async def test_of_the_words_of_a_failure_the_first_are_shown(provider):
    found = await failure(provider, "wordy")

    assert "x" * 1_999 + "…" == found.message


@pytest.mark.parametrize(
    ("bound", "value", "model", "words"),
    [
        ("DELTAS_MAX", 1_000, "flood", "its answer has more than 1000 deltas"),
        ("ANSWER_CHARACTERS_MAX", 500, "flood", "its answer has more than 500 characters"),
        ("ANSWER_SECONDS_MAX", 0.05, "slow", "its answer takes more than 0.05 s"),
    ],
)
async def test_an_answer_without_an_end_is_ended(provider, monkeypatch, bound, value, model, words):
    monkeypatch.setattr(providers, bound, value)

    found = await failure(provider, model)

    assert f"The plugin birds failed: {words}." == found.message


async def test_an_answer_can_be_given_up_at_any_moment(provider, plugins):
    for model in ("silent", "flood", "good"):
        with trio.move_on_after(0.05):
            async with provider.stream(Prompt(model, ())) as batches:
                async for _ in batches:
                    await trio.sleep(0.01)

    with trio.fail_after(PATIENCE_SECONDS):
        while plugins.statistics()["birds"].calls:
            await trio.sleep(0.01)


async def test_a_busy_plugin_is_asked_again_later(provider, bounds):
    bounds(CALLS_MAX=0)

    found = await failure(provider, "good")

    assert found.retryable
    assert "it is busy: 0 of its calls run already" in found.message


async def test_the_models_of_plugins_stand_behind_those_with_keys(plugins):
    brought = plugin_models(plugins)

    found = models_of_environment({"OPENAI_API_KEY": "k"}, brought)

    assert ["openai/gpt-5", "parrot/good"] == [str(model) for model in found][:2]
    assert 9000 == found[-1].context_limit
    assert "the plugin birds" == found[-1].provider.variable


async def test_one_of_them_may_be_the_default(plugins):
    environ = {"OPENAI_API_KEY": "k", "PROMPTCORNER_MODEL": "parrot/big"}

    assert "parrot/big" == str(models_of_environment(environ, plugin_models(plugins))[0])


async def test_a_default_that_a_plugin_has_not_is_refused(plugins):
    with pytest.raises(CannotStart, match="parrot/huge, but parrot has: good, unended"):
        models_of_environment({"PROMPTCORNER_MODEL": "parrot/huge"}, plugin_models(plugins))


def test_a_default_that_a_plugin_may_bring_later_is_not_refused_now():
    environ = {"PROMPTCORNER_MODEL": "parrot/big"}

    assert () == models_of_environment(environ, is_whole=False)
    with pytest.raises(CannotStart, match="but the providers with a key are: none"):
        models_of_environment(environ)
