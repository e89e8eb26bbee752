"""The checks for plugin authors let good parts through, and say what is wrong with bad ones."""

from functools import partial

import pytest
import trio

from promptcorner import ext
from promptcorner.ext import testing
from promptcorner.ext.testing import ContractBroken


@ext.tool
async def greet(name: ext.JsonText) -> str:
    """Greet somebody."""
    await trio.lowlevel.checkpoint()
    return f"hello {name}"


@ext.tool
async def cling(name: str) -> str:
    """Go on when it is told to end."""
    with trio.CancelScope(shield=True):
        await trio.sleep(1.2)
    return name


@ext.tool
async def litter(name: str) -> str:
    """Leave a task behind."""
    trio.lowlevel.spawn_system_task(trio.sleep, 5)
    await trio.lowlevel.checkpoint()
    return name


@ext.tool
async def endure(name: str) -> str:
    """Take longer than anybody waits."""
    await trio.sleep(60)
    return name


WORKS = {"works": [{"name": "Ann"}]}


async def test_a_good_tool_passes():
    await testing.check_tool(greet, works=[{"name": "Ann"}], refused=[{}, {"name": 1}])


@pytest.mark.parametrize(
    ("tool", "how", "words"),
    [
        (greet, {"works": []}, "name at least one set of arguments"),
        (greet, {"works": [{"nam": "Ann"}]}, "should work, but"),
        (greet, {**WORKS, "refused": [{"name": "Bob"}]}, "should be refused"),
        (litter, WORKS, "left 1 tasks running"),
    ],
)
async def test_a_bad_tool_is_named(tool, how, words, autojump_clock):
    with pytest.raises(ContractBroken, match=words):
        await testing.check_tool(tool, **how)


async def test_a_tool_that_does_not_let_go_is_named(autojump_clock):
    with pytest.raises(ContractBroken, match=r"took 1\.2 s to end when cancelled"):
        await testing.check_tool(cling, **WORKS)


async def test_a_tool_that_hangs_is_named(autojump_clock):
    with pytest.raises(ContractBroken, match="did not end within 10 s"):
        await testing.check_tool(endure, **WORKS)


GREY = ext.PluginModel("grey")


def a_provider(*deltas, name="parrot", models=(GREY,)):
    class Provider(ext.ModelProvider):
        async def stream(self, prompt):
            for delta in deltas:
                await trio.lowlevel.checkpoint()
                yield delta

    provider = Provider()
    provider.name, provider.models = name, models
    return provider


TEXT, END = ext.TextDelta("0", "hello"), ext.TextEnded("0")
OVER = ext.AnswerFinished(ext.FinishReason.STOP)
CALL = ext.ToolCall("c", "f", "{}")


async def test_a_good_provider_passes():
    streamed = ext.ToolInputStarted("c", "f"), ext.ToolInputDelta("c", "f", "{}")

    await testing.check_provider(a_provider(TEXT, END, *streamed, CALL, OVER))


@pytest.mark.parametrize(
    ("provider", "words"),
    [
        (a_provider(OVER, name="Grey Parrot"), "is no name for a provider"),
        (a_provider(OVER, models=()), "has no models"),
        (a_provider(OVER, models=(GREY,) * 2), "names a model twice"),
        (a_provider(), "says nothing"),
        (a_provider(TEXT, END), "has to be Finished"),
        (a_provider(OVER, TEXT, END), "has to be Finished"),
        (a_provider(TEXT, OVER), "do not end"),
        (a_provider(TEXT, END, TEXT, OVER), "had ended before"),
        (a_provider(CALL, CALL, OVER), "names two calls"),
        (a_provider(ext.ToolInputStarted("c", "f"), OVER), "never whole"),
        (a_provider(ext.ToolInputDelta("c", "f", "{"), CALL, OVER), "others than those"),
    ],
)
async def test_a_bad_provider_is_named(provider, words):
    with pytest.raises(ContractBroken, match=words):
        await testing.check_provider(provider)


ASKS = partial(ext.IdentityRequest, "GET", "/")


class Header(ext.IdentitySource):
    """Believes a header, from a proxy or from anybody."""

    def __init__(self, *, is_credulous=False):
        self.is_credulous = is_credulous

    async def identify(self, request):
        user = request.headers.get("x-user")
        if user and (self.is_credulous or request.is_from_trusted_proxy):
            return ext.Identity(user)
        return None


ANN = {"x-user": "ann"}
IDENTITIES = {
    "known": {"ann": ASKS(ANN, "10.0.0.1", True)},
    "unknown": [ASKS(ANN, "192.0.2.7", False)],
}


async def test_a_good_identity_source_passes():
    await testing.check_identity(Header(), **IDENTITIES)


async def test_a_source_that_believes_anybody_is_named():
    with pytest.raises(ContractBroken, match="is taken for ann"):
        await testing.check_identity(Header(is_credulous=True), **IDENTITIES)


async def test_a_source_that_knows_nobody_is_named():
    with pytest.raises(ContractBroken, match="the request of bob is not known"):
        await testing.check_identity(
            Header(), known={"bob": ASKS({}, "10.0.0.1", True)}, unknown=IDENTITIES["unknown"]
        )
