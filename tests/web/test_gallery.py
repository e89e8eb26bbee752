"""Every card in every state, at two widths, in both themes: axe finds nothing."""

import pytest

from tests.e2e.processes import ROOT
from tests.web.hostile import HARM
from tests.web.page import DESK, PHONE

SETTINGS = {"PROMPTCORNER_WEB_DIR": str(ROOT / "adapters" / "web" / "assets")}


STATES = "writing,running,done,failed,refused,interrupted,empty,cut,odd,asks,may have run,hostile"


@pytest.mark.parametrize(("theme", "size"), [("dark", DESK), ("light", PHONE)])
async def test_every_card_can_be_read_by_everybody(page, theme, size):
    await page.size(*size, phone=size == PHONE)
    await page.goto(f"/web/dev/gallery?theme={theme}&states={STATES}")
    await page.until("document.querySelectorAll('[data-call]').length > 20")

    assert [] == await page.faults_of_access()
    harm = await page.js(HARM)
    assert [] == [
        each for each in harm if 'href="data:,"' not in each
    ]  # where nothing is to be had
    assert size[0] >= await page.js("document.documentElement.scrollWidth")


async def test_a_footnote_is_gone_to_and_come_back_from(page):
    await page.goto("/web/dev/gallery?card=items")

    await page.click("button", "Note 1")
    await page.until("document.activeElement.dataset.note === '1'")
    assert "In The book of queues, page 7." in await page.js("document.activeElement.innerText")

    await page.click("button", "Back to where note 1 is named")
    await page.until_focused("button", "Note 1")
