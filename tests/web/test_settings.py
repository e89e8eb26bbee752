"""The settings of users, and those of the deployment, as people change them."""

import re

import httpx2
import pytest

from tests.patience import PATIENCE_SECONDS
from tests.web.house import CHATS, HEADER
from tests.web.page import PHONE, a_page
from tests.web.stories import SLOWLY

MODELS = "/api/experimental/chats/model-configs"
SKILL = "---\nname: release-notes\ndescription: How we write them\n---\n\nBegin with users.\n"
# One page of each kind, so that it does not take long; every page is made of the same parts.
PAGES = (
    "settings/profile",
    "settings/display",
    "admin/models/new",
    "admin/servers/new",
    "admin/users",
)


@pytest.fixture
async def admin(browser, house):
    """A tab of a user who looks after the deployment."""
    async with a_page(browser) as page:
        page.url = house.url
        await page.cookies((await house.person("ines", "owner"))[1], house.url)
        yield page
        assert [] == page.unexpected


async def fill(page, name, text, role="textbox"):
    """Put a text in the place of what stands in a field."""
    await page.click(role, name)
    await page.until_focused(role, name)
    await page.press("a", "Control")
    await page.type(text)


async def choose(page, name, value):
    """Choose a value of a list, as its keys do."""
    field = await page.find("combobox", name)
    await field.js(
        "function (value) { this.value = value;"
        " this.dispatchEvent(new Event('change', {bubbles: true})) }",
        value,
    )


async def save(page, button="Save"):
    await page.click("button", button)
    await page.until_text("Saved")


async def save_of(page, title):
    """Save the form of the section with this title."""
    await page.js(
        "[...document.querySelectorAll('.set-part')].find("
        f"part => part.querySelector('h3')?.textContent == {title!r})"
        ".querySelector('.btn.main').click()"
    )
    await page.until_text("Saved")


async def choose_text(page, name, text):
    field = await page.find("combobox", name)
    value = "function (text) { return [...this.options].find(o => o.text.includes(text))?.value }"

    async def offered():
        return await field.js(value, text)

    await choose(page, name, await page.until_true(offered, f"{name} offers {text}"))


async def test_a_user_changes_their_name_and_is_asked_before_it_is_lost(page, api):
    await page.goto("/settings/profile")
    await fill(page, "Name", "Mara Kern")

    await page.click("link", "Skills")
    await page.click("button", "Stay")
    await save_of(page, "Name")
    await page.click("link", "Skills")

    await page.until("location.pathname == '/settings/skills'")
    assert "Mara Kern" == (await api.good("GET", "/api/v2/users/me"))["name"]


async def test_the_server_says_at_the_field_what_is_wrong(page):
    await page.goto("/settings/profile")
    await fill(page, "Password you have now", "not this one")
    await fill(page, "New password", "a better one than that")
    await fill(page, "The same again", "a better one than that")
    page.allow("400")

    await page.click("button", "Change the password")

    await page.until_text("is not the password")
    await page.until("document.activeElement.name === 'old_password'")


async def test_a_token_is_shown_once_and_can_be_revoked(page, house):
    await page.goto("/settings/tokens")
    await fill(page, "Name", "laptop")
    await page.click("button", "Make a token")
    token = await (await page.find("textbox", "Your new token")).value()

    how = {"base_url": house.url, "headers": {HEADER: token}, "timeout": PATIENCE_SECONDS}
    async with httpx2.AsyncClient(**how) as program:
        assert 200 == (await program.get("/api/v2/users/me")).status_code
        await page.click("button", "Revoke")
        dialog = await page.css("dialog .btn.bad")
        await dialog.click()
        await page.until_text("You have no tokens")
        assert 401 == (await program.get("/api/v2/users/me")).status_code


async def test_a_skill_is_written_mended_and_deleted(page, api):
    await page.goto("/settings/skills/new")
    page.allow("400")
    await fill(page, "File", "no front matter")
    await page.click("button", "Add the skill")
    await page.until_text("must begin with front matter")

    await fill(page, "File", SKILL)
    await page.click("button", "Add the skill")
    await page.until("location.pathname == '/settings/skills/release-notes'")
    await fill(page, "File", SKILL + "And end with thanks.\n")
    await save(page)
    path = "/api/experimental/users/me/skills"
    assert "thanks" in (await api.good("GET", f"{path}/release-notes"))["content"]

    await page.click("button", "Delete")
    await (await page.css("dialog .btn.bad")).click()
    await page.until_text("You have no skills yet")
    assert [] == await api.good("GET", path)


async def test_skills_are_imported_and_a_file_that_is_none_says_why(page, api, tmp_path):
    path = "/api/experimental/users/me/skills"
    (tmp_path / "notes.md").write_text(SKILL)
    (tmp_path / "plain.md").write_text("no front matter")
    (tmp_path / "huge.md").write_text(SKILL + "x" * 70_000)
    page.allow("400")
    await page.goto("/settings/skills")
    await page.until_text("You have no skills yet")

    files = [tmp_path / name for name in ("notes.md", "plain.md", "huge.md")]
    await (await page.css("input[type=file]")).choose_files(*files)

    await page.until_text("notes.md: imported as release-notes.")
    await page.until_text("plain.md: not imported.")
    await page.until_text("a skill may have 65,536")
    await page.find("link", re.compile("^release-notes"))
    assert [] == await page.faults_of_access()
    assert ["release-notes"] == [each["name"] for each in await api.good("GET", path)]
    await api.good("DELETE", f"{path}/release-notes")


async def test_a_look_holds_at_once_and_stays(page):
    await page.goto("/settings/display")

    await page.click("radio", "Dark")

    await page.until("document.documentElement.dataset.theme == 'dark'")
    await page.reload()
    await page.until("document.documentElement.dataset.theme == 'dark'")


LOOK_AWAY = """
window.told = [];
window.Notification = class {
  static permission = "granted";
  constructor(title, {body}) { window.told.push([title, body]); }
};
Object.defineProperty(document, "visibilityState", {value: "hidden"});
document.dispatchEvent(new Event("visibilitychange"));
"""


async def test_who_looks_elsewhere_is_told_of_a_turn_that_has_ended(page, api):
    chat = await api.chat(f"{SLOWLY} Talk.", "running")
    await page.goto("/settings/notifications")
    await page.until(f"!!document.querySelector('.row:has(.cue.go) [href=\"/c/{chat}\"]')")
    await api.good("PATCH", f"{CHATS}/{chat}", {"title": "It is heard of"})
    await page.until_text("It is heard of", "nav")
    await page.find("group", "Notifications")
    await page.js(LOOK_AWAY)
    await (await page.css("[name=kept-notify]")).js("function () { this.click() }")

    await api.good("POST", f"{CHATS}/{chat}/interrupt")

    await page.until("window.told.length == 1")
    assert "is done" == (await page.js("window.told[0][1]"))


DENIES = """
window.Notification = class {
  static permission = "default";
  static async requestPermission() { return (this.permission = "denied"); }
};
"""


async def test_a_switch_that_the_browser_does_not_follow_stays_off(page):
    await page.goto("/settings/display")
    await page.js(DENIES)
    await page.click("link", "Notifications")
    await page.find("group", "Notifications")
    shown = "[...document.querySelectorAll('[name=kept-notify]')].map(one => one.checked)"

    for _ in range(2):  # the browser asks once, and then never again
        await (await page.css("[name=kept-notify]")).js("function () { this.click() }")
        await page.until_text("The browser was told to show none from this page")
        await page.until(f"JSON.stringify({shown}) == '[false,true]'")

    await page.js("Notification.permission = 'granted'; dispatchEvent(new Event('focus'))")
    await page.until_no_text("The browser was told to show none from this page")
    await (await page.css("[name=kept-notify]")).js("function () { this.click() }")
    await page.until(f"JSON.stringify({shown}) == '[true,false]'")
    await page.js("Notification.permission = 'denied'; dispatchEvent(new Event('focus'))")
    await page.until(f"JSON.stringify({shown}) == '[false,true]'")


async def test_who_looks_elsewhere_is_told_of_a_turn_that_ended_while_the_line_was_away(page, api):
    page.allow(r"ERR_|WebSocket|Failed to load resource|Failed to fetch")
    chat = await api.chat(f"{SLOWLY} Talk.", "running")
    await page.goto("/settings/notifications")
    await page.until(f"!!document.querySelector('.row:has(.cue.go) [href=\"/c/{chat}\"]')")
    await page.find("group", "Notifications")
    await page.js(LOOK_AWAY)
    await (await page.css("[name=kept-notify]")).js("function () { this.click() }")

    async with page.offline():
        await page.until_text("Offline")
        await api.good("POST", f"{CHATS}/{chat}/interrupt")
        await api.until(chat, "waiting")

    await page.until("window.told.length == 1")
    assert "is done" == (await page.js("window.told[0][1]"))


async def test_members_have_no_pages_of_administrators(browser, house):
    async with a_page(browser) as page:
        page.url = house.url
        await page.cookies((await house.person("bert"))[1], house.url)
        await page.goto("/admin/users")

        await page.until_text("There is no such page")
        assert "Administration" not in await page.text()
        assert [] == page.unexpected


async def test_an_administrator_sets_up_a_provider_and_a_model(admin, house):
    await admin.goto("/admin/providers/new")
    await choose(admin, "Vendor", "openai-compat")
    await fill(admin, "Name", "lab")
    await fill(admin, "Address", "http://127.0.0.1:9/v1")
    await fill(admin, "Key", "sk-0123456789-0123456789")
    await admin.click("button", "Add the provider")
    await admin.until_text("sk-0...6789")
    await admin.until_text("It has no model yet")
    await fill(admin, "Key", "sk-9876543210-9876543210")
    await save(admin)
    await admin.until_text("sk-9...3210")
    assert "sk-0...6789" not in await admin.text()

    await admin.goto("/admin/models/new")
    await choose_text(admin, "Provider", "lab")
    await fill(admin, "Model", "qwen3")
    admin.allow("400")
    await admin.click("button", "Add the model")
    await admin.until_text("is required, and must be above 0")
    await fill(admin, "Reads at most", "131072", role="spinbutton")
    await admin.click("button", "Show as JSON")
    await fill(admin, "JSON", '{"temperature": 0.5}')
    await admin.until_is("0.5", admin.value, "Temperature", "spinbutton")
    await admin.click("button", "Add the model")
    await admin.until_text("Copy…")

    async with house.api() as api:
        models = await api.good("GET", "/api/experimental/chats/model-configs")
    [made] = [each for each in models if each["model"] == "qwen3"]
    for place in ("providers", "models"):
        await admin.goto(f"/admin/{place}")
        await admin.until(
            "!!document.querySelector('.items svg.vendor[data-vendor=openai-compat]')"
        )
        assert [] == await admin.faults_of_access()
    assert (131_072, {"temperature": 0.5}) == (made["context_limit"], made["model_config"])


async def test_a_model_that_does_not_do_what_it_is_set_up_to_do_says_so(admin, house):
    options = {"provider_options": {"google": {"web_search_enabled": True}}}
    async with house.api() as api:
        new = {"type": "google", "name": "goo", "base_url": "http://127.0.0.1:9"}
        new["api_keys"] = ["sk-0123456789-0123456789"]
        provider = (await api.good("POST", "/api/v2/ai/providers", new))["id"]
        model = {"ai_provider_id": provider, "model": "gemini-2.5-pro", "model_config": options}
        path = "/api/experimental/chats/model-configs"
        made = await api.good("POST", path, {**model, "context_limit": 1_000_000})

    await admin.goto("/admin/models")
    await admin.click("link", re.compile("gemini-2.5-pro.*needs a look"))
    await admin.until_text("it will not search")
    await fill(admin, "Model", "gemini-3-pro-preview")
    await save(admin)

    await admin.until_no_text("it will not search")
    await admin.goto("/admin/models")
    await admin.find("link", re.compile("gemini-3-pro-preview"))
    await admin.until_no_text("needs a look")
    assert made["warnings"]


async def test_an_administrator_tries_a_provider(admin, house):
    await admin.goto("/admin/providers")
    await admin.click("link", re.compile("anthropic from the environment"))
    await admin.until_text("comes from the environment")

    await admin.click("button", "Try it")

    await admin.until_text("It answered after")
    listed = "fetch('/api/experimental/chats').then(answer => answer.json())"
    await admin.until(f"{listed}.then(chats => chats.length == 0)")  # it is archived


async def test_the_page_of_the_advisor_says_that_it_is_switched_off_and_asks_for_nothing(admin):
    await admin.goto("/admin/advisor")
    await admin.until_text("The advisor is switched off in this daemon.")

    assert [] == [url for _, url in admin.requests if url.endswith("/config/advisor")]


async def test_an_administrator_adds_a_user_who_comes_by_a_link(admin, house):
    await admin.goto("/admin/users/new")
    await fill(admin, "Username", "theo")
    await admin.click("button", "Add the user")
    link = await (await admin.find("textbox", "Send this link to theo")).value()
    assert link.startswith(f"{house.url}/join/")

    await admin.goto("/admin/users")
    await fill(admin, "Search users", "theo", role="searchbox")
    await admin.click("link", "theo never logged in")
    await admin.click("radio", "Owner also looks after users, models and the settings for all")
    await save_of(admin, "Role")
    await admin.click("button", "Suspend")
    await (await admin.css("dialog .btn.bad")).click()
    await admin.until_text("Suspended: they are not let in")

    async with house.api() as api:
        theo = await api.good("GET", "/api/v2/users/theo")
    assert ("suspended", ["owner"]) == (theo["status"], [role["name"] for role in theo["roles"]])


async def test_an_administrator_sets_up_a_server_for_a_few(admin, house):
    mara, _ = await house.person("mara")
    await admin.goto("/admin/servers/new")
    await fill(admin, "Name", "Team Wiki")
    await fill(admin, "Address", "https://wiki.example.org/mcp")
    await choose(admin, "It is shown", "api_key")
    await fill(admin, "Header", "X-Key")
    await fill(admin, "Key", "0123456789")
    await admin.click("button", "Add the server")
    await admin.click("button", "Only those I name")
    await admin.until_text("Only administrators may use it")
    await fill(admin, "Add a user by name", "mara", role="searchbox")
    await admin.click("button", "Add")
    await admin.until_text("Only these users may use it")

    async with house.api(mara) as api:
        [organization] = await api.good("GET", "/api/v2/organizations")
        path = f"/api/experimental/organizations/{organization['id']}/mcp-servers"
        [server] = await api.good("GET", path)
    assert ("team-wiki", True) == (server["slug"], server["has_api_key"])


async def test_numbers_of_the_lifecycle_are_checked_and_kept(admin, house):
    await admin.goto("/admin/lifecycle")
    admin.allow("400")
    await fill(admin, "Archive a chat after", "4000", role="spinbutton")
    await admin.click("button", "Save")
    await admin.until_text("must be 0 or 1 to 3650")
    await fill(admin, "Archive a chat after", "30", role="spinbutton")
    await fill(admin, "Stop a workspace after", "90", role="spinbutton")
    await fill(admin, "Delete records of model calls after", "7", role="spinbutton")
    await save(admin)

    async with house.api() as api:
        config = "/api/experimental/chats/config"
        days = await api.good("GET", f"{config}/auto-archive-days")
        ttl = await api.good("GET", f"{config}/workspace-ttl")
        records = await api.good("GET", f"{config}/debug-retention-days")
    assert (30, 5_400_000) == (days["auto_archive_days"], ttl["workspace_ttl_ms"])
    assert 7 == records["debug_retention_days"]


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
async def test_the_pages_are_for_everybody(admin, phone):
    if phone:
        await admin.size(*PHONE, phone=True)
    faults = []
    for path in PAGES:
        await admin.goto(f"/{path}")
        await admin.until("document.querySelector('.set-page') !== null")
        await admin.until("!document.querySelector('.set-waits')")
        faults += [f"{path}: {fault}" for fault in await admin.faults_of_access()]
        if await admin.js("document.documentElement.scrollWidth > innerWidth"):
            faults.append(f"{path}: wider than the page")
    assert [] == faults


async def test_what_is_no_value_is_not_saved(admin, house):
    async with house.api() as api:
        [provider, *_] = await api.good("GET", "/api/v2/ai/providers")
    await admin.goto(f"/admin/models/new?provider={provider['id']}")
    await admin.click("button", "Show as JSON")
    await fill(admin, "JSON", '{"temperature": ')

    await admin.click("button", "Add the model")

    await admin.until_text("is no JSON yet")
    assert not [url for method, url in admin.requests if method == "POST"]
    await fill(admin, "JSON", "{}")
    await admin.until_no_text("is no JSON yet")


async def test_a_known_model_brings_its_name_and_limit(admin, house):
    async with house.api() as api:
        providers = await api.good("GET", "/api/v2/ai/providers")
    [anthropic, *_] = [each["id"] for each in providers if each["type"] == "anthropic"]
    await admin.goto(f"/admin/models/new?provider={anthropic}")

    await admin.until("document.querySelector('datalist option') !== null")
    field = await admin.css("[name=model]")
    await field.type("claude-haiku-4-5")

    await admin.until_is("200000", admin.value, "Reads at most", "spinbutton")
    await admin.until_is("Claude Haiku 4.5", admin.value, "Shown as")


async def test_reading_pages_is_switched_on_and_a_model_that_cannot_says_so(admin, house):
    google = {"type": "google", "name": "gemini", "base_url": "https://google.test/v1beta"}
    async with house.api() as api:
        provider = await api.good("POST", "/api/v2/ai/providers", google)
        made = await api.good(
            "POST",
            MODELS,
            {"ai_provider_id": provider["id"], "model": "gemini-2.5-flash", "context_limit": 4096},
        )
    await admin.goto(f"/admin/models/{made['id']}")

    await choose(admin, "Read pages of the web", "yes")
    await save(admin)

    await admin.until_text("Reading of pages is switched on, but this model cannot read them")
    async with house.api() as api:
        [kept] = [each for each in await api.good("GET", MODELS) if each["id"] == made["id"]]
    assert {"google": {"web_fetch_enabled": True}} == kept["model_config"]["provider_options"]
