"""The pages for everybody: narrow, enlarged, without motion, in the system's colours, by touch."""

import pytest

from tests.web.page import DESK, PHONE
from tests.web.stories import SLOWLY, live, say

VIEWS = {  # each with what is there once it is whole
    "/": ".row, textarea",
    "/new": "textarea",
    "/search?q=hello": "#hits, .found-words",
    "/settings/display": ".set-main input",
    "/admin/users": "a[href='/admin/users/new']",
    "CHAT": "[role=log] .text a",
}
ANSWER = "[[text: A *word*, `code` and [a link](/new).]] hello"
# What takes a press, measured from the middle of each thing to press in four directions.
SMALL = """
(least => {
  const takes = (each, x, y) => {
    const at = document.elementFromPoint(x, y);
    return !!at && (each.contains(at) || !!at.closest("label")?.contains(each));
  };
  const reach = (each, x, y, dx, dy) => {
    let far = 0;
    while (far < least && takes(each, x + dx * (far + 1), y + dy * (far + 1))) far += 1;
    return far;
  };
  const found = [];
  for (const each of document.querySelectorAll("a[href], button, input, select, summary")) {
    if (each.closest("p, .text, [inert]")) continue; // words within a text are as high as it is
    if (!each.checkVisibility({ visibilityProperty: true })) continue;
    const box = each.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    if (box.width <= 1 || !takes(each, x, y)) continue; // out of sight, or covered
    const wide = 1 + reach(each, x, y, 1, 0) + reach(each, x, y, -1, 0);
    const high = 1 + reach(each, x, y, 0, 1) + reach(each, x, y, 0, -1);
    const isSmall = Math.min(wide, high) < least - 1; // a middle may lie between two pixels
    if (isSmall) found.push(`${wide} by ${high}: ${each.outerHTML.slice(0, 110)}`);
  }
  return found;
})
"""
MOVES = """
document.getAnimations().filter(each => each.playState === "running")
  .filter(each => each.effect.getComputedTiming().duration > 0)
  .map(each => [each.animationName ?? each.transitionProperty, each.effect.target.outerHTML])
  .map(([name, where]) => `${name}: ${where.slice(0, 80)}`)
"""


async def shown(page, view, chat):
    """Open a view and wait until its parts are there."""
    await page.goto(view.replace("CHAT", f"/c/{chat}"))
    await page.until("!!document.querySelector('h1')")
    await page.until(f'!!document.querySelector("{VIEWS[view]}")')
    await page.until("!document.querySelector('[aria-busy=true]')")


@pytest.mark.parametrize("zoom", [1, 2])
async def test_nothing_scrolls_sideways_at_320_pixels_and_at_twice_the_size(page, api, zoom):
    chat = await api.chat(ANSWER)
    # Twice the size on a screen of 1280 pixels leaves room for 640, each of two pixels.
    await page.size(320 if zoom == 1 else 640, 512, scale=zoom)
    wide = []
    for view in VIEWS:
        await shown(page, view, chat)
        if await page.js("document.documentElement.scrollWidth > innerWidth"):
            wide.append(view)

    assert [] == wide


async def test_nothing_moves_where_no_motion_is_wanted(page, api):
    chat = await api.chat(ANSWER)
    await page.goto(f"/c/{chat}")
    await say(page, f"{SLOWLY} Say much.")
    await live(page, 50)
    assert [] == await page.js(MOVES)

    await page.press("k", "Control")
    await page.until_focused("combobox", "Search or do")
    assert [] == await page.js(MOVES)
    await page.press("Escape")
    await page.media(motion="no-preference")
    await page.until(f"{MOVES}.some(each => each.includes('breathe'))")  # it can go red
    await page.click("button", "Stop")


async def test_lights_and_borders_are_seen_in_colours_of_the_system(page, api):
    chat = await api.chat(f"{SLOWLY} Say much.", "running")
    await page.media(**{"forced-colors": "active"})
    await page.goto(f"/c/{chat}")
    await live(page, 50)
    row = f"document.querySelector('.row:has([href=\"/c/{chat}\"]) .cue')"
    await page.until(f"!!{row}")

    assert "none" == await page.js(f"getComputedStyle({row}).forcedColorAdjust")
    bare = """
    [...document.querySelectorAll("button:not(.item), textarea, .box")].filter(each => {
      const style = getComputedStyle(each);
      return each.matches(".box") && style.borderTopWidth === "0px";
    }).map(each => each.outerHTML.slice(0, 100))
    """
    assert [] == await page.js(bare)
    await api.good("POST", f"/api/experimental/chats/{chat}/interrupt")


@pytest.mark.parametrize(("size", "least"), [(DESK, 24), (PHONE, 44)])
async def test_things_to_press_are_large_enough(page, api, size, least):
    chat = await api.chat(ANSWER)
    await page.size(*size, phone=size == PHONE)
    small = {}
    for view in VIEWS:
        await shown(page, view, chat)
        if found := await page.js(f"{SMALL}({least})"):
            small[view] = found

    assert [] == [f"{view}: {each}" for view, found in small.items() for each in found]
