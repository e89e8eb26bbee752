"""A browser for all stories of the pages, a daemon for those of one file, a tab for each."""

import re
from pathlib import Path

import pytest

from tests.web import browser as chromium
from tests.web import npm
from tests.web.house import USER, a_house
from tests.web.page import a_page

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.filterwarnings("ignore:Async generator 'http"))


@pytest.fixture(scope="session")
def browser_process():
    """One Chromium for a run; without one its tests are left out, but not where CI is set."""
    program = chromium.look_up()
    if isinstance(program, str):
        npm.leave_out(program)
    process = chromium.BrowserProcess(program)
    yield process
    process.close()


@pytest.fixture
async def browser(browser_process):
    async with chromium.connected(browser_process) as browser:
        yield browser


@pytest.fixture(scope="module")
def settings(request):
    """The environment of a file's daemon: its SETTINGS.

    A file that has to open something for them has a fixture of this name instead: every worker
    imports every file, and only one of them runs its tests.
    """
    return getattr(request.module, "SETTINGS", {})


@pytest.fixture(scope="module")
def house(request, browser_process, server, tmp_path_factory, settings):
    """The daemon of a file."""
    name = request.module.__name__.rpartition(".")[2].removeprefix("test_")
    with a_house(server, f"web_{name}", tmp_path_factory.mktemp(name), **settings) as house:
        yield house


@pytest.fixture
async def person(house):
    """(token, cookies) of the user whose pages these are, who may ask without a limit of rate."""
    return await house.person(USER, "owner")


@pytest.fixture
async def api(house, person):
    """The API as that user has it."""
    async with house.api(person[0]) as api:
        yield api


@pytest.fixture
async def page(request, browser, house, person):
    """A tab in which that user is logged in; at the end it must have nothing to complain of."""
    async with a_page(browser) as page:
        page.url, page.name = house.url, named(request)
        await page.cookies(person[1], house.url)
        yield page
        assert [] == page.unexpected


@pytest.fixture
async def stranger(request, browser, house):
    """A tab of a browser in which nobody is logged in."""
    async with a_page(browser) as page:
        page.url, page.name = house.url, named(request)
        yield page
        assert [] == page.unexpected


def named(request):
    """Return the name of a test as that of a file."""
    return re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")
