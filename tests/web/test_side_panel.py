"""The side panel: changes with remarks, agents, commands, the summary."""

import base64
import re
from pathlib import Path

from tests.web.house import CHATS, WORKSPACE
from tests.web.stories import WRITTEN, answers, calls, say

BEFORE = "def promote(queue):\n    return queue.pop()\n"


async def changed(api):
    """Begin a chat that has written a file, changed it, and run a command; its id."""
    chat = await api.chat(WORKSPACE)
    [space, *_] = (await api.good("GET", "/api/v2/workspaces"))["workspaces"]
    path = f"{space['path']}/queue.py"
    for call in (
        calls("write_file", path=path, content=BEFORE),
        calls(
            "edit_files",
            files=[{"path": path, "edits": [{"old_text": "pop()", "new_text": "first()"}]}],
        ),
        calls("execute", command=r"printf '\033[31mred\033[0m ink\n'; exit 3"),
    ):
        await api.say(chat, f"{call} [[text: done]]", "waiting")
    return chat


async def test_remarks_on_what_was_changed_become_one_message(page, api):
    chat = await changed(api)
    await page.goto(f"/c/{chat}")
    await page.click("tab", re.compile("^Changes"))
    await page.until_text("first()", "aside.panel")
    assert [] == await page.faults_of_access()

    await (await page.css("aside.panel .diff")).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        await page.press(key)
    await page.until("document.activeElement.ariaLabel === 'Remark'")
    await page.type("Who takes it out, then?")
    await page.click("button", "Add to message")
    await page.until_text("1 remark not sent")
    await page.until(f"{WRITTEN}.then(drafts => drafts.includes('Who takes it out'))")
    await page.goto(f"/c/{chat}")
    await page.click("button", "Send remarks")
    await page.until_no_text("1 remark not sent")

    async def is_sent():
        return "Who takes it out" in (await last(api, chat))[-1].get("text", "")

    await page.until_true(is_sent, "the remark has gone out")
    reference, text = await last(api, chat)
    assert (2, 2, "+    return queue.first()") == (
        reference["start_line"],
        reference["end_line"],
        reference["content"],
    )
    assert "`queue.py:2`: Who takes it out, then?" in text["text"]


async def last(api, chat):
    """Return the parts of the user's newest message."""
    return [m["content"] for m in await api.messages(chat) if m["role"] == "user"][-1]


async def test_the_panel_shows_commands_and_a_summary(page, api):
    chat = await changed(api)
    await page.goto(f"/c/{chat}")

    await page.click("tab", re.compile("^Terminal"))
    await page.until_text("red ink", "aside.panel")
    await page.until_text("exit 3", "aside.panel")
    assert "red" == await page.js("document.querySelector('aside.panel .fg1').textContent")
    assert [] == await page.faults_of_access()

    await page.press("ArrowRight")
    await page.until_text("Tokens by model", "aside.panel")
    await page.until_text("This chat", "aside.panel")
    assert [] == await page.faults_of_access()


async def test_an_agent_is_interrupted_from_the_panel(page, api):
    slowly = r"\u005b\u005bdeltas: 6000\u005d\u005d \u005b\u005bdelta-ms: 50\u005d\u005d"
    prompt = f'{{"type": "general", "title": "The understudy", "prompt": "{slowly}"}}'
    chat = await api.chat(f"[[tool-calls: spawn_agent:{prompt}]] [[text: begun]]")
    await page.goto(f"/c/{chat}")
    await page.click("tab", re.compile("^Agents"))
    await page.until_text("The understudy", "aside.panel")
    assert [] == await page.faults_of_access()

    await page.click("button", "Interrupt The understudy")

    [child] = (await api.good("GET", f"{CHATS}/{chat}"))["children"]
    await api.until(child["id"], "waiting")
    await page.until("!document.querySelector('[aria-label=\"Interrupt The understudy\"]')")


SCREEN = "document.querySelector('.shell .xterm-rows')?.innerText.replaceAll('\\u00a0', ' ') ?? ''"


DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def test_a_shell_of_ones_own_is_typed_into_left_and_come_back_to(page, api):
    chat = await api.chat(WORKSPACE)
    await page.goto(f"/c/{chat}")
    await page.click("tab", re.compile("^Terminal"))
    await page.click("button", "New shell")
    await page.until(f"/[#$]/.test({SCREEN})")
    await page.until_focused("textbox", "Shell")
    await page.until("document.querySelectorAll('.xterm-rows > div').length > 24")

    await page.type("stty size; echo $((6 * 7)); printf '\\033[31mred\\033[0m ink'")
    await page.press("Enter")
    await page.until(f"({SCREEN}).includes('red ink')")
    [rows] = await page.js(f"({SCREEN}).match(/(\\d+)\\s\\d+\\s*42/).slice(1)")
    assert int(rows) > 24, "it has the size of the page's box"
    assert [] == await page.faults_of_access()
    await page.media(theme="dark")
    assert [] == await page.faults_of_access()
    await page.click("button", "Screen reader")
    await page.until("document.querySelector('.xterm-accessibility')?.innerText.includes('red')")
    assert [] == await page.faults_of_access()
    await page.click("button", "Screen reader")
    await page.click("textbox", "Shell")
    await page.until_focused("textbox", "Shell")

    await page.press("Escape", "Shift")
    await page.until_focused("tab", "Terminal")
    await page.goto(f"/c/{chat}")
    await page.click("button", "Shell 1")
    await page.until(f"({SCREEN}).includes('red ink')")

    await page.type("exit 3")
    await page.press("Enter")
    await page.until_text("The shell has ended (exit 3).", ".shell")
    await page.click("button", "Commands")
    await page.until_text("No command has been run", "aside.panel")


async def home_of(api, chat):
    """Return the directory of the chat's workspace."""
    id = (await api.good("GET", f"{CHATS}/{chat}"))["workspace_id"]
    return Path((await api.good("GET", f"/api/v2/workspaces/{id}"))["path"])


async def test_files_are_walked_through_looked_at_and_referred_to(page, api):
    chat = await changed(api)
    home = await home_of(api, chat)
    (home / "src/deep").mkdir(parents=True)
    (home / "src/deep/page.html").write_text("<h1>a page</h1><script>alert(1)</script>")
    (home / "dot.png").write_bytes(DOT)
    (home / "data.bin").write_bytes(bytes(3_000))

    await page.goto(f"/c/{chat}")
    await page.click("tab", "Files")
    await page.until_text("data.bin", "aside.panel")
    assert [] == await page.faults_of_access()
    await page.media(theme="dark")
    assert [] == await page.faults_of_access()

    await page.click("button", re.compile("^src/"))
    await page.click("button", re.compile("^deep/"))
    await page.click("button", re.compile("^page.html"))
    await page.until_text("<h1>a page</h1>", "aside.panel pre")
    assert [] == await page.faults_of_access()
    await page.click("button", "Back to the folder")
    await page.until_focused("button", "page.html 40 B")
    await page.click("button", "Refer to page.html")
    await page.until_is("`src/deep/page.html` ", page.value, "Message")

    await page.click("button", "Workspace")
    await page.click("button", re.compile("^data.bin"))
    await page.until_text("This file is no text", "aside.panel")
    await page.click("button", "Back to the folder")
    await page.click("button", re.compile("^dot.png"))
    await page.until("document.querySelector('aside.panel img.shown')?.naturalWidth === 1")
    link = "document.querySelector('aside.panel .fh a[download]').href"
    assert "path=dot.png&download=true" in await page.js(link)
    await page.click("button", "Back to the folder")
    await page.click("button", re.compile("^queue.py"))
    await page.until_text("queue.first()", "aside.panel")


async def test_what_a_command_writes_is_seen_while_it_runs(page, api):
    chat = await api.chat(WORKSPACE)
    await page.goto(f"/c/{chat}")
    command = "echo one; until [ -e go-on ]; do sleep 0.05; done; echo two"
    await say(page, f"{calls('execute', command=command, timeout='50s')} [[text: done]] Run it.")

    live = "document.querySelector('pre.term')?.innerText ?? ''"
    await page.until(f"({live}).startsWith('one')")
    assert not await page.js(f"({live}).includes('two')")
    (await home_of(api, chat) / "go-on").touch()
    await answers(page, "done")
    [_, result] = [m["content"][0] for m in await api.messages(chat) if m["role"] == "tool"]
    assert "one\ntwo\n" == result["result"]["output"]

    beside = "echo three; until [ -e end ]; do sleep 0.05; done; echo four"
    await api.say(
        chat,
        f"{calls('execute', command=beside, run_in_background=True)} [[text: it goes on]]",
        "waiting",
    )
    await page.click("tab", re.compile("^Terminal"))
    await page.until_text("three", "aside.panel")
    (await home_of(api, chat) / "end").touch()
    await page.until_text("four", "aside.panel")
    await page.until_text("exit 0", "aside.panel")


async def test_the_working_tree_is_shown_as_it_changes(page, api, tmp_path):
    chat = await api.chat(WORKSPACE)
    made = "git init -q -b main r && cd r && echo one > a.txt && echo x > old.txt && git add ."
    commit = "git -c user.name=a -c user.email=a@b commit -qm first && mv old.txt new.txt"
    await api.say(
        chat, f"{calls('execute', command=f'{made} && {commit}')} [[text: done]]", "waiting"
    )
    await page.goto(f"/c/{chat}")
    await page.click("tab", "Changes")
    await page.click("button", "Show the working tree")
    await page.until_text("was old.txt", "aside.panel")
    await page.until_text("main", "aside.panel .changed")

    change = calls("execute", command="printf 'two\\n' > r/a.txt")
    await api.say(chat, f"{change} [[text: done]]", "waiting")
    await page.click("button", re.compile("^a.txt"))
    await page.until_text("two", "aside.panel .diff")
    assert [] == await page.faults_of_access()
    await page.picture(str(tmp_path / "light.png"))
    await page.js("document.documentElement.dataset.theme = 'dark'")
    assert [] == await page.faults_of_access()
    await page.picture(str(tmp_path / "dark.png"))

    await page.goto(f"/c/{chat}")  # the way of looking stays
    await page.until_text("a.txt", "aside.panel .changed")
    await page.click("button", "By its calls")
    await page.until_text("No file has been changed", "aside.panel")


TABS = "[...document.querySelectorAll('[role=tab]')].map(each => each.id.slice(4)).join()"


async def test_the_panel_takes_the_full_width_and_its_tabs_are_closed_and_opened(page, api):
    chat = await changed(api)
    await page.goto(f"/c/{chat}")
    await page.click("tab", re.compile("^Changes"))
    await page.click("button", "Full width")
    await page.until("!document.querySelector('main.stage').offsetWidth")
    wide = "document.querySelector('aside.panel').getBoundingClientRect()"
    await page.until(f"{wide}.left === document.querySelector('nav.side').offsetWidth")
    await page.until(f"{wide}.right === innerWidth")
    assert [] == await page.faults_of_access()
    await page.press("/")  # leads to the field, which must be seen
    await page.until_focused("textbox", "Message")
    await page.click("button", "Full width")
    await page.until("!document.querySelector('main.stage').offsetWidth")
    await (await page.find("tab", re.compile("^Changes"))).focus()
    await page.press("Escape")
    await page.until("!!document.querySelector('main.stage').offsetWidth")

    everything = "changes,agents,files,terminal,summary,desktop,calls"
    assert everything == await page.js(TABS)
    await page.click("tab", "Files")
    await (await page.css(".shut-tab")).click()
    await page.until_focused("tab", "Terminal")
    await page.press("Delete")
    await page.until_focused("tab", "Summary")
    await page.until_text("Tokens by model", "aside.panel")
    assert [] == await page.faults_of_access()
    await page.reload()
    await page.until(f"{TABS} === 'changes,agents,summary,desktop,calls'")
    await page.click("button", "Open a tab")
    assert ["Files", "Terminal"] == await page.names("menuitem")
    await page.click("menuitem", "Terminal")
    await page.until_text("exit 3", "aside.panel")
    await page.until_focused("tab", "Terminal")
    for _ in range(5):
        await page.press("Delete")
    await page.until(f"{TABS} === 'changes'")
    await page.press("Delete")
    assert "changes" == await page.js(TABS), "the last one stays"
    assert 0 == await page.js("document.querySelectorAll('.shut-tab').length")


async def test_no_tab_and_no_filter_is_cut_where_letters_are_wide(page, api):
    chat = await changed(api)
    await page.goto(f"/c/{chat}")
    await page.find("tab", "Calls")
    await page.find("button", re.compile("(More|Label)…"))
    for spacing in ("0", "0.2em"):
        sheet = f"[role=tab], .chip {{ letter-spacing: {spacing} }}"
        await page.js(
            "void (sheet => (sheet.replaceSync("
            f"'{sheet}'), document.adoptedStyleSheets = [sheet]))(new CSSStyleSheet())"
        )
        cut = """[...document.querySelectorAll("[role=tab], .chips .chip")].filter(each => {
            const [inner, outer] = [each, each.parentElement.parentElement]
                .map(one => one.getBoundingClientRect());
            return inner.right > outer.right || inner.bottom > outer.bottom;
        }).map(each => each.innerText)"""
        assert [] == await page.js(cut)
