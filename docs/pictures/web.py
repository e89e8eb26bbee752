"""Take pictures of the web pages: every view, light and dark, on a desk and on a phone.

    python docs/pictures/web.py docs/pictures/web.png build/pictures

A daemon is started in a temporary directory, with a model that answers from a script; a browser
opens its pages. The first argument is the picture for README, the second a folder for all others.
"""

import json
import sys
from contextlib import contextmanager
from pathlib import Path

import trio

from tests.adapters.workspaces.context.ground import put
from tests.e2e.processes import ROOT
from tests.web import browser as chromium
from tests.web.house import CHATS, USER, a_house_alone
from tests.web.page import DESK, PHONE, TABLET, a_page

SETTINGS = {
    "PROMPTCORNER_WEB_DIR": str(ROOT / "adapters" / "web" / "assets"),
    "PROMPTCORNER_SUMMARIES": "on",
}
SIZES = {"desk": DESK, "tablet": TABLET, "phone": PHONE}
THEMES = ("light", "dark")
SETTLE_SECONDS = 0.6  # for what comes into view: fonts, colours of code

QUEUE = '''"""The messages that wait in a chat."""


class Queue:
    async def promote(self, chat, queued):
        """Say this now."""
        async with self._tx() as tx:
            head = await tx.one(POP_HEAD, chat)
            await tx.commit()
        if head is None:
            raise Empty(chat)
        return await tx.execute(INSERT, head)
'''
BEFORE = """            head = await tx.one(POP_HEAD, chat)
            await tx.commit()
        if head is None:
            raise Empty(chat)
"""
AFTER = """            row = await tx.one(LOCK_CHAT, chat)
            head = await tx.one(POP_HEAD, chat, row.queue_version)
            if head is None or head.id != queued:
                raise Refused(409)
"""
FOUND = """\
Promotion takes the head of the queue in **one transaction** and inserts it in **another**. Whoever
edits the queue between the two makes it take a message that is not the head any more.

| seed | before | after |
|---|---|---|
| 7 | 1 of 40 lost | none |
| 41 | 2 of 40 lost | none |

The mend locks the chat's row first, as every other change of the queue does:

```python
row = await tx.one(LOCK_CHAT, chat)
if head is None or head.id != queued:
    raise Refused(409)
```

1. `promote` now answers 409 with the order there is.
2. A test with two senders and 40 seeds holds it."""
PLAN = """\
## Lock, then take

1. Lock the chat's row in `promote`, as `reorder` does.
2. Answer **409** with the order there is, if the head has changed.
3. A test with two senders and 40 seeds."""
QUESTION = {
    "questions": [
        {
            "header": "Branch",
            "question": "Which branch shall get the fix?",
            "options": [
                {"label": "main", "description": "It is released on Friday"},
                {"label": "0.1 as well", "description": "Two conflicts, both in tests"},
            ],
        }
    ]
}
OTHERS = (  # title, what was asked, what was answered
    ("Release 0.2 checklist", "Which points are open?", "4 of 9 are done; it waits for the wheel."),
    ("Index for the label filter", "Make the filter by label quick.", "It takes 2 ms now."),
    ("Why is the first token late on Mondays?", "Find out.", "The pool is cold after a weekend."),
    (
        "Review: steer beside queue",
        "Review the branch.",
        "Three remarks, one of them about a lock.",
    ),
    ("Postgres 15 in the matrix", "Add it.", "Green on 15, 16, 17 and 18."),
    ("Explain SKIP LOCKED to me", "With an example.", "Two workers, one table, no waiting."),
    ("Dutch translation of the docs", "Begin with the README.", "Twelve pages are done."),
)


class Scene:
    """Chats as somebody has them in the middle of a day."""

    def __init__(self, house, api):
        self.house, self.api = house, api
        self.provider = house.provider

    async def turn(self, chat, words, status="waiting", **behaviour):
        """Say something; the model does what its behaviour says."""
        self.provider.behave(**behaviour)
        if chat is None:
            chat = await self.api.chat(words, status)
        else:
            await self.api.say(chat, words, status)
        return chat

    async def titled(self, chat, title):
        await self.api.good("PATCH", f"{CHATS}/{chat}", {"title": title})

    async def set_up(self):
        for title, asked, answered in OTHERS:
            await self.titled(await self.turn(None, asked, text=answered), title)
        failed = await self.turn(None, "Run the soak.", "error", faults="401")
        await self.titled(failed, "Nightly: soak run 412")
        working = await self.turn(
            None, "Port it to two cores.", "running", deltas=4000, delta_ms=100
        )
        await self.titled(working, "Port the load generator to two cores")
        return {
            "chat": await self.main_chat(),
            "question": await self.question(),
            "plan": await self.plan(),
            "error": failed,
        }

    async def main_chat(self):
        chat = await self.turn(
            None,
            "Messages that are promoted while another person edits the queue are sometimes lost."
            " Find out why, and mend it.",
            tool_calls=calls(("create_workspace", {"template_id": "services"})),
            text="The workspace is there. I look at the queue first.",
        )
        await self.titled(chat, "Queue loses a message")
        file = f"{await self.workspace(chat)}/queue.py"
        edit = {"path": file, "edits": [{"search": BEFORE, "replace": AFTER}]}
        await self.turn(
            chat,
            "Begin with `promote`, I suspect the commit in the middle.",
            tool_calls=calls(
                ("read_file", {"path": file}),
                ("execute", {"command": "wc -l queue.py"}),
                ("edit_files", {"files": [edit]}),
            ),
            text=FOUND,
            delta_chars=30,
            reasoning=20,
        )
        await self.api.good("PATCH", f"{CHATS}/{chat}", {"approval_policy": "ask"})
        await self.turn(
            chat,
            "Good. Push the branch.",
            "requires_action",
            tool_calls=calls(("execute", {"command": "git push origin fix/queue-order"})),
            text="It is pushed.",
        )
        await self.api.say(chat, "Then write the release note, two sentences")
        await self.api.say(chat, "And look whether 0.1 has the same fault")
        return chat

    async def workspace(self, chat):
        """Return the folder of a chat's workspace, as its tools name files."""
        for message in await self.api.messages(chat):
            for part in message["content"]:
                if part["type"] == "tool-result" and part["tool_name"] == "create_workspace":
                    return part["result"]["path"]
        raise LookupError(chat)

    async def question(self):
        asks = calls(("ask_user_question", QUESTION))
        self.provider.behave(tool_calls=asks, text="I see.")
        chat = await self.api.chat("Plan the fix for 0.1.", plan_mode="plan")
        await self.titled(chat, "Plan the fix for 0.1")
        return chat

    async def plan(self):
        proposes = calls(("propose_plan", {"plan": PLAN}))
        self.provider.behave(tool_calls=proposes, text="That is the plan.")
        chat = await self.api.chat("How would you mend the queue?", plan_mode="plan")
        await self.titled(chat, "The plan for the queue")
        return chat


def calls(*wanted):
    return " ".join(f"{name}:{json.dumps(arguments)}" for name, arguments in wanted)


@contextmanager
def a_theatre():
    """A daemon with templates, and a browser."""
    with chromium.a_browser() as process, a_house_alone("pictures", **SETTINGS) as house:
        put(
            house.daemon.home / "templates/services",
            **{"queue.py": QUEUE, "README.md": "The services."},
        )
        yield house, process


async def take(house, process, readme, folder):
    token, cookies = await house.person(USER, "owner")
    async with house.api(token) as api, chromium.connected(process) as browser:
        chats = await Scene(house, api).set_up()
        views = {name: f"/c/{chat}" for name, chat in chats.items()} | {
            "list": "/",
            "new": "/new",
            "search": "/search?q=queue",
            "settings": "/settings",
            "admin": "/admin",
            "gallery": "/web/dev/gallery?states=running,done,failed,asks",
        }
        for theme in THEMES:
            for name, size in SIZES.items():
                async with a_page(browser, size=size, phone=name == "phone", theme=theme) as page:
                    page.url = house.url
                    await page.cookies(cookies, house.url)
                    for view, path in views.items():
                        await page.goto(f"{path}{'&theme=' + theme if 'gallery' in path else ''}")
                        await trio.sleep(SETTLE_SECONDS)
                        await page.picture(folder / f"{view}-{name}-{theme}.png")
        async with a_page(browser, theme="dark") as page:
            page.url = house.url
            await page.cookies(cookies, house.url)
            await page.goto(views["chat"])
            await page.until_text("+4", "[data-panel=open]")
            await trio.sleep(SETTLE_SECONDS)
            await page.picture(readme)
        for chat in await api.good("GET", CHATS):
            if chat["status"] in ("running", "requires_action"):
                await api.good("POST", f"{CHATS}/{chat['id']}/interrupt")


def main():
    readme, folder = map(Path, sys.argv[1:])
    with a_theatre() as (house, process):
        trio.run(take, house, process, readme.absolute(), folder.absolute())
    sys.stdout.write(f"{readme} and {len(list(folder.glob('*.png')))} pictures in {folder}\n")


if __name__ == "__main__":
    main()
