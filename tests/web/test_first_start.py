"""The page of a deployment that nobody has set up yet."""

from tests.web.house import CHATS
from tests.web.page import a_page
from tests.web.stories import FIELD, say

PROVIDERS = "/api/v2/ai/providers"
SETTINGS = dict.fromkeys(
    ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENAI_COMPAT_BASE_URL"), ""
)


async def test_a_rehearsal_is_named_as_such_until_there_is_a_provider(page, api, house, browser):
    await page.goto("/new")
    await page.until_text("This is a rehearsal.", ".welcome")
    await page.find("link", "Set up a provider")
    assert [] == await page.faults_of_access()
    await say(page, "Is anybody there?")
    await page.until("location.pathname.startsWith('/c/')")

    new = {"type": "openai", "name": "acme", "base_url": "http://127.0.0.1:1/v1", "enabled": True}
    await api.good("POST", PROVIDERS, {**new, "api_keys": ["a key"]})
    await page.goto("/new")
    await page.until_text("There is no model yet", ".welcome")
    await page.until_text("Name a model of it, and chats can begin.", ".welcome")
    assert [] == await page.all("textbox", FIELD)
    assert [] == await page.faults_of_access()

    _, cookies = await house.person("ines")
    async with a_page(browser) as other:
        other.url = house.url
        await other.cookies(cookies, house.url)
        await other.goto("/new")
        await other.until_text("An administrator has to set up a model provider first.", ".welcome")
        await other.until_text("Ask admin or mara.", ".welcome")
        assert [] == await other.all("link", "Set up a provider")
        assert [] == other.unexpected
    assert 1 == len(await api.good("GET", CHATS))
