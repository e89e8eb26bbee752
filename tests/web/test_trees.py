"""The main views as a screen reader is told of them: line by line the files in `trees`."""

import difflib
from contextlib import suppress

import pytest
import trio

from tests.web import browser as chromium
from tests.web.browser import BrowserFault
from tests.web.elements import LOOK_SECONDS, looks
from tests.web.page import a_page
from tests.web.trees import SETTINGS, TREES, VIEWS, furnish, show, told

__all__ = ["SETTINGS"]  # of the house of this file
ANEW = "python -m tests.web.trees"


@pytest.fixture
async def visitor(browser, house):
    """A tab in which nobody is logged in yet."""
    async with a_page(browser) as page:
        page.url = house.url
        yield page
        assert [] == page.unexpected


@pytest.mark.parametrize("name", VIEWS)
async def test_a_view_is_told_to_a_screen_reader_as_its_file_says(visitor, person, api, name):
    if not chromium.look_up().libraries:
        pytest.skip("another browser has other words for the same")
    view, wanted = VIEWS[name], (TREES / f"{name}.txt").read_text()
    chats = await furnish(api)
    await visitor.cookies([] if view.is_strange else person[1], visitor.url)
    visitor.name = f"tree-{name}"
    await show(visitor, view, chats)

    seen = ""
    for _ in looks():
        with suppress(BrowserFault):  # a part is drawn anew
            if (seen := await told(visitor, view)) == wanted:
                return
        await trio.sleep(LOOK_SECONDS)
    raise await visitor.stuck(f"{differences(wanted, seen)}\nif so it shall be: {ANEW} {name}")


def test_every_file_is_that_of_a_view():
    assert {f"{name}.txt" for name in VIEWS} == {path.name for path in TREES.iterdir()}


def differences(wanted, seen):
    """Return the lines that are others, and those beside them."""
    texts = [text.splitlines() for text in (wanted, seen)]
    return "\n".join(difflib.unified_diff(*texts, "what stands in its file", "now", lineterm=""))
