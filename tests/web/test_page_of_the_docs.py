"""docs/web.md: its keys are those of the page, and its card can be written as it says."""

import re
import shutil

from tests.e2e.processes import ROOT
from tests.web.house import a_house
from tests.web.page import a_page

ASSETS = ROOT / "adapters" / "web" / "assets"
PAGE = (ROOT / "docs" / "web.md").read_text()
KEY = re.compile(r'\{keys: "([^"]+)", command: "([^"]+)"\}')
ROW = re.compile(r'\{(keys|command): "([^"]+)", title: "([^"]+)"\}')
WORDS = {"mod": "Ctrl", "alt": "Alt", "shift": "Shift", "Escape": "Esc", "ArrowUp": "↑"}


def shown(keys):
    """Return keys as the table of the page writes them."""
    parts = [key.split("+") for key in keys.split()]
    words = [
        [WORDS.get(part, part.upper() if at and len(part) == 1 else part) for at, part in each]
        for each in map(enumerate, parts)
    ]
    return " ".join(f"`{'+'.join(each)}`" for each in words)


def test_the_keys_are_those_of_the_page():
    keys_of = {command: keys for keys, command in KEY.findall((ASSETS / "keys.js").read_text())}
    told = ROW.findall((ASSETS / "keys_help.js").read_text())
    rows = [(shown(keys_of[it] if kind == "command" else it), title) for kind, it, title in told]
    table = PAGE.partition("## Keys")[2].partition("## Limits")[0]
    documented = re.findall(r"^\|[^|]*\| (`.*`) \| (.*) \|$", table, re.MULTILINE)

    assert keys_of
    assert sorted(keys_of) == sorted(it for kind, it, _ in told if kind == "command")
    assert rows == documented


def test_the_folders_are_those_there_are():
    table = PAGE.partition("| folder of")[2].partition("\n\n")[0]
    folders = {path.name for path in ASSETS.iterdir() if path.is_dir()}

    assert folders - {"icons", "conversation", "gallery"} <= set(re.findall(r"`(\w+)/`", table))


def codes(title):
    """Return the pieces of code of a section."""
    section = PAGE.partition(title)[2].partition("\n### ")[0]
    return re.findall(r"```js\n(.*?)```", section, re.DOTALL)


async def test_the_card_is_written_as_the_page_says(browser, server, tmp_path):
    assets = tmp_path / "assets"
    shutil.copytree(ASSETS, assets)
    card, sample = codes("### A card")
    cards = assets / "timeline" / "cards"
    (cards / "lamps.js").write_text(card)
    table = (cards / "table.js").read_text()
    table = 'import { lamps } from "./lamps.js";\n' + table.replace("= [\n", "= [\n  lamps,\n", 1)
    (cards / "table.js").write_text(table)
    tools = assets / "gallery" / "tools.js"
    begin = "export const TOOLS = [\n"
    tools.write_text(tools.read_text().replace(begin, begin + sample, 1))

    settings = {"PROMPTCORNER_WEB_DIR": str(assets)}
    with a_house(server, "web_card", tmp_path / "home", **settings) as house:
        _, cookies = await house.person("mara")
        async with a_page(browser) as page:
            page.url = house.url
            await page.cookies(cookies, house.url)
            await page.goto("/web/dev/gallery?card=lamps&states=writing,done,failed,empty,hostile")

            await page.until_text("Counted lamps")
            await page.until_text("3 lamps")
            await page.until_text("Could not count lamps")
            assert [] == await page.faults_of_access()
            assert [] == page.unexpected


async def test_the_page_of_the_settings_is_written_as_the_page_says(browser, server, tmp_path):
    assets = tmp_path / "assets"
    shutil.copytree(ASSETS, assets)
    [code] = codes("### A page of the settings")
    code = code.replace("config/lamps", "config/retention-days").replace("lamps", "retention_days")
    (assets / "settings" / "personal" / "lamps.js").write_text(code)
    table = assets / "settings" / "table.js"
    row = (
        '{ path: "/settings/lamps", title: "Lamps", icon: "bulb",'
        ' load: () => import("./personal/lamps.js") },\n'
    )
    begin = 'title: "You",\n    pages: [\n'
    table.write_text(table.read_text().replace(begin, begin + row, 1))

    settings = {"PROMPTCORNER_WEB_DIR": str(assets)}
    with a_house(server, "web_lamps", tmp_path / "home", **settings) as house:
        _, cookies = await house.person("mara", "owner")
        async with a_page(browser) as page:
            page.url = house.url
            await page.cookies(cookies, house.url)
            await page.goto("/settings/lamps")
            field = await page.find("spinbutton", "Lamps")
            await field.click()
            await page.press("a", "Control")
            await page.type("7")
            await page.click("button", "Save")
            await page.until_text("Saved")
            assert [] == page.unexpected
