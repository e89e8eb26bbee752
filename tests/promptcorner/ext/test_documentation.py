"""docs/plugins.md: its examples are plugins, and its bounds are those of the code."""

import re
from pathlib import Path

import pydantic
import pytest

from adapters.plugins import identity, loop, streams
from promptcorner import ext
from promptcorner.ext import providers, tools
from promptcorner.ext.testing import check_schema

PAGE = (Path(__file__).parents[3] / "docs" / "plugins.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def named():
    """What the examples define, one after the other; they import a package that nobody has."""
    found = {"ext": ext, "pydantic": pydantic}
    for block in BLOCKS:
        code = compile(block, "docs/plugins.md", "exec")
        if "acme_tickets" not in block:
            exec(code, found)
    return found


def test_the_tools_of_the_page_are_tools(named):
    found = [named["find_tickets"], named["close_ticket"], named["open_ticket"]]

    for tool in found:
        assert isinstance(tool, ext.PluginTool)
        check_schema(tool.name, tool.schema)
    assert ["never", "always", "by_policy"] == [tool.consent for tool in found]
    assert found[:2] == named["tools"]


def test_the_provider_and_the_source_of_the_page_can_be_made(named):
    assert "acme" == named["Acme"]().name
    assert isinstance(named["ProxyLogin"](), ext.IdentitySource)
    assert ext.API_VERSION == named["PROMPTCORNER_API"]
    assert f"`ext.API_VERSION` is {ext.API_VERSION}." in PAGE


@pytest.mark.parametrize(
    "words",
    [
        f"not within {loop.LOAD_SECONDS:g} s",
        f"its `seconds` ({tools.SECONDS:g}, up to {tools.SECONDS_MAX:,.0f})",
        f"after {loop.CANCEL_GRACE_SECONDS:g} s nobody waits for it",
        f"{loop.CALLS_MAX} of its calls run",
        f"more than {tools.RESULT_BYTES_MAX // 2**20} MiB",
        f"more than {providers.DELTAS_MAX:,} deltas, "
        f"{providers.ANSWER_CHARACTERS_MAX // 2**20} Mi characters",
        f"waits after {streams.WAITING_MAX}",
        f"does not answer within {identity.IDENTIFY_SECONDS:g} s",
        f"blocks its event loop for {loop.BLOCKED_SECONDS:g} s",
        f"it blocks for {loop.BLOCKED_SECONDS_MAX:g} s",
        f"after {loop.LEAVE_SECONDS:g} s it is left behind",
    ],
)
def test_the_bounds_of_the_page_are_those_of_the_code(words):
    assert words in PAGE


def test_every_name_of_the_page_is_there():
    names = set(re.findall(r"\bext\.([A-Za-z]\w+)", PAGE)) - {"testing"}

    assert names <= set(ext.__all__)
