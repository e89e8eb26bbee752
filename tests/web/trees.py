"""The main views as a screen reader is told of them, and the program that writes that down.

    .venv/bin/python -m tests.web.trees [VIEW …]

Each view becomes a file in tests/web/trees: a line for each thing that is told, with its role, its
name and its state. Parts that vary from run to run (times, ids, figures, paths) are left out.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import trio

from tests.conftest import FAST
from tests.web import browser as chromium
from tests.web.house import CHATS, USER, WORKSPACE, a_house_alone
from tests.web.page import DESK, PHONE, a_page
from tests.web.stories import FIELD, calls

TREES = Path(__file__).parent / "trees"
SETTINGS = {"PROMPTCORNER_APPROVAL_DEADLINE": "0"}
TEXT = "# Cue\n\nThe curtain *rises*.\n\n- `one`\n- [two](/new)"
SAME_LOOKS = 10  # a view is written when so many looks in a row have found the same
LOOK_SECONDS = 0.1
# True when nothing is on its way to the page or still to be drawn.
AT_REST = """
document.readyState === "complete" && !document.querySelector("[aria-busy=true], .late")
"""
STATES = (
    "level",
    "checked",
    "pressed",
    "selected",
    "expanded",
    "disabled",
    "required",
    "invalid",
    "readonly",
    "modal",
    "hasPopup",
)
SILENT = {"InlineTextBox", "LineBreak", "ListMarker", "MenuListPopup"}
# These do not matter without a name, and other versions of the browser have other words for them.
PLAIN = {"generic", "none", "sectionheader", "sectionfooter", "LabelText", "Legend"}
VARIES = (
    (re.compile(r"\d{1,2}:\d\d(:\d\d)?(\s[AP]M)?"), "TIME"),
    (re.compile(r"/\S*/workspaces/[\w-]+"), "PLACE"),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "ID"),
    (re.compile(r"\b\d[\d.,]*\s?(ms|s|m|min|h|d)\b( \d+\s?(s|min|h)\b)?"), ""),
    (re.compile(r"\bnow\b"), ""),
    (re.compile(r"\bidle for\b"), "idle"),  # for a minute or more
    (re.compile(r"[<≥] \d+ ¢|\$[\d.,]*\d"), "COST"),
    (re.compile(r"\d[\d.,]*\b( k\b)?"), "N"),
)


@dataclass(frozen=True)
class View:
    """A view: where it is, how large, what is pressed there, and its parts that are told."""

    path: str
    shows: str  # an expression that is true when it is all there
    parts: tuple[str, ...] = ()  # selectors; none: the whole page
    size: tuple[int, int] = DESK
    press: tuple[str, str] | None = None
    is_strange: bool = False  # nobody is logged in


def has(selector, text=""):
    """Return an expression that is true when something shows a text."""
    return f"document.querySelector({selector!r})?.innerText.includes({text!r})"


LIST_SHOWS = " && ".join(has(".side", title) for title in ("Asks", "Broken", "Unread"))
CHAT_SHOWS = " && ".join(
    [
        has("[role=log]", "The curtain rises."),
        "!!document.querySelector('.bar button')",
        "!!document.querySelector('.top h1')",
    ]
)
VIEWS = {
    "list": View("/new", LIST_SHOWS, ("nav",)),
    "chat": View("CARDS", CHAT_SHOWS, ("main",)),
    "composer": View(
        "CARDS",
        "!!document.querySelector('.popover [role^=menuitem]')",
        (".comp", ".popover"),
        press=("button", "Add files and options"),
    ),
    "consent": View(
        "ASKS", "!!document.querySelector('[data-approval]')", ("[data-approval]", ".comp")
    ),
    "panel": View("CARDS", has("aside.panel", "queue.py"), ("aside.panel",)),
    "settings": View("/settings/display", has("main", "Theme"), ("main",)),
    "search": View("/search?q=curtain", has(".hits", "With cards"), ("main",)),
    "login": View("/login", "!!document.querySelector('form')", is_strange=True),
    "list_on_a_phone": View("/", LIST_SHOWS, size=PHONE),
    "chat_on_a_phone": View("CARDS", CHAT_SHOWS, size=PHONE),
}


async def furnish(api):
    """Make the chats that the views show, once; return {title: id}."""
    there = {chat["title"]: chat["id"] for chat in await api.good("GET", CHATS, limit=100)}
    if "Unread" in there:
        return there
    cards = await api.chat(WORKSPACE)
    [space, *_] = (await api.good("GET", "/api/v2/workspaces"))["workspaces"]
    path = f"{space['path']}/queue.py"
    edits = [{"old_text": "one", "new_text": "two"}]
    for call in (
        calls("write_file", path=path, content="one\n"),
        calls("edit_files", files=[{"path": path, "edits": edits}]),
        calls("execute", command="echo on; exit 3"),
        calls("read_file", path=path),
    ):
        await api.say(cards, f"{call} [[text: done]] go on", "waiting")
    await api.say(cards, f"[[reasoning: 3]] [[text: {TEXT}]] When?", "waiting")
    broken = await api.chat("[[faults: 401]] hello", "error")
    asks = await api.chat(
        calls("execute", command="git push"), "requires_action", approval_policy="ask"
    )
    unread = await api.chat("[[text: not read]] hello")
    made = {"With cards": cards, "Broken": broken, "Asks": asks, "Unread": unread}
    for title, chat in made.items():
        await api.good("PATCH", f"{CHATS}/{chat}", {"title": title})
        if chat != unread:
            await api.good("PUT", f"{CHATS}/{chat}/read-status", {"is_read": True})
    return made


async def show(page, view, chats):
    """Open a view and wait until all of it is there."""
    await page.size(*view.size, phone=view.size == PHONE)
    chat = {"CARDS": "With cards", "ASKS": "Asks"}.get(view.path)
    await page.goto(f"/c/{chats[chat]}" if chat else view.path)
    await page.until(AT_REST)
    if view.press:
        await page.find("textbox", FIELD)
        await page.click(*view.press)
    await page.until(view.shows)
    await page.until(AT_REST)


async def told(page, view):
    """Return a view as a screen reader is told of it now; "" if it is being drawn anew."""
    nodes = (await page.do("Accessibility.getFullAXTree"))["nodes"]
    by_id = {node["nodeId"]: node for node in nodes}
    if not view.parts:
        return "".join(f"{line}\n" for line in lines(nodes[0], by_id))
    by_element = {node["backendDOMNodeId"]: node for node in nodes if "backendDOMNodeId" in node}
    found = []
    for part in view.parts:
        element = await page.css(part)
        if element.node not in by_element:
            return ""
        found += lines(by_element[element.node], by_id)
    return "".join(f"{line}\n" for line in found)


def lines(node, by_id, depth=0, above=""):
    """Yield a line for a node and each node below it, without words that a name above has said."""
    role, name = node["role"]["value"] if "role" in node else "", named(node)
    if role in SILENT:
        return
    is_silent = node["ignored"] or (role in PLAIN and not name) or not role
    if role == "StaticText":
        if name and name not in above:
            yield f"{'  ' * depth}{name}"
        return
    if not is_silent:
        quoted = f' "{name}"' if name else ""
        yield f"{'  ' * depth}{role}{quoted}{state(node)}"
        depth, above = depth + 1, f"{above}\n{name}"
    if role == "time":
        return
    below = [by_id[child] for child in node.get("childIds", ()) if child in by_id]
    if role == "LabelText":
        # Its words are the name of the field beside them.
        above = "\n".join([above, *(named(each) for each in below if not is_text(each))])
    for child in below:
        yield from lines(child, by_id, depth, above)


def is_text(node):
    return node.get("role", {}).get("value") == "StaticText"


def named(node):
    return told_always(node.get("name", {}).get("value", ""))


def told_always(text):
    """Return a text without the parts that vary from run to run."""
    for pattern, word in VARIES:
        text = pattern.sub(word, str(text))
    return re.sub(r"\s+", " ", text).strip()


def state(node):
    """Return the state of a node, as a screen reader tells it after the name."""
    said = {each["name"]: each["value"].get("value") for each in node.get("properties", ())}
    found = [
        name if said[name] is True or said[name] == "true" else f"{name} {said[name]}".lower()
        for name in STATES
        if name in said and said[name] not in (None, "") and not is_usual(name, said[name])
    ]
    if value := told_always(node.get("value", {}).get("value", "")):
        found.append(f"value {value}")
    return f" ({', '.join(found)})" if found else ""


def is_usual(name, value):
    """Return whether a state is not worth telling: that a thing is not disabled, for instance."""
    return (value is False or value == "false") and name not in (
        "checked",
        "pressed",
        "expanded",
        "selected",
    )


async def at_rest(page, view):
    """Return a view as it is told once it stays the same."""
    last, times = "", 0
    while times < SAME_LOOKS:
        await trio.sleep(LOOK_SECONDS)
        now = await told(page, view)
        last, times = now, times + 1 if now == last else 0
    return last


async def write(house, process, names):
    token, cookies = await house.person(USER, "owner")
    async with house.api(token) as api, chromium.connected(process) as browser:
        chats = await furnish(api)
        for name in names:
            async with a_page(browser) as page:
                page.url, view = house.url, VIEWS[name]
                await page.cookies([] if view.is_strange else cookies, house.url)
                await show(page, view, chats)
                (TREES / f"{name}.txt").write_text(await at_rest(page, view))
                print(name)


def main():
    names = sys.argv[1:] or list(VIEWS)
    TREES.mkdir(exist_ok=True)
    with (
        a_house_alone("trees", server_settings=FAST, **SETTINGS) as house,
        chromium.a_browser() as process,
    ):
        trio.run(write, house, process, names)


if __name__ == "__main__":
    main()
