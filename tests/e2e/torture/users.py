"""Users who talk in chats whatever happens to the daemons, and watch them over any of these.

A user asks a random daemon and repeats a request under its idempotency key until it is answered, so
each message that a user says is accepted once, or the storm's end finds a request that never was.
"""

import random
import uuid
from dataclasses import dataclass, field

import httpx2
import trio

from tests.e2e.delegating import REPORT
from tests.e2e.watchers import HEADER, KINDS

TOKEN = "a-token-of-the-first-admin-for-these-tests"
CHATS = "/api/experimental/chats"
HEADERS = {HEADER: TOKEN, "x-coder-bypass-ratelimit": "true"}
ASK_SECONDS = 8.0  # of one request; then another daemon is asked
ANSWERED_SECONDS_MAX = 300.0  # of one request, over all daemons
AGAIN = {408, 409, 429, 500, 502, 503, 504}
REST_SECONDS_MAX = 20.0  # that a user waits for an answer before saying more
BEHIND_MAX = 6  # messages that wait; then a user waits, too
STYLES = ("talk", "work", "delegate", "steer", "interrupt", "work", "talk", "delegate")
BUSY = {"steer": "steer", "interrupt": "interrupt"}


class Requests:
    """Asks whichever daemon chance names, until one of them answers."""

    def __init__(self, site, rng):
        self._site = site
        self._rng = rng
        self.refused_count = 0  # answers that were no answer: away, busy, too late
        self.crashes = []  # what a daemon could not say better than with a 500

    async def ask(self, method, path, document=None, *, key=None, unless=None):
        """The document of the answer; None for the status `unless`, which is an answer too."""
        headers = {**HEADERS, **({"idempotency-key": key} if key else {})}
        with trio.fail_after(ANSWERED_SECONDS_MAX):
            while True:
                answer = await self._try(method, path, document, headers)
                if answer is not None and answer.status_code == unless:
                    return None
                if answer is not None and answer.status_code not in AGAIN:
                    assert answer.status_code < 300, f"{method} {path}: {answer.text}"
                    return answer.json() if answer.content else None
                self.refused_count += 1
                await trio.sleep(self._rng.uniform(0.1, 0.5))

    async def _try(self, method, path, document, headers):
        url = self._rng.choice(self._site.urls)
        try:
            async with httpx2.AsyncClient(
                base_url=url, headers=headers, timeout=ASK_SECONDS
            ) as client:
                answer = await client.request(method, path, json=document)
        except httpx2.TransportError:
            return None
        if answer.status_code == 500:
            self.crashes.append(answer.text)
        return answer


@dataclass
class Talk:
    """One chat: what was said in it, and who watches."""

    name: str
    style: str
    requests: Requests
    rng: random.Random
    options: dict
    chat: str = ""
    said: list = field(default_factory=list)  # accepted, in this order
    watcher: object = None
    interrupts_count: int = 0

    async def go_on(self, storm, nursery, choose_url):
        """Talk until the storm is over."""
        await trio.sleep(self.rng.uniform(0, 3))
        text = self._next()
        made = await self.requests.ask(
            "POST", CHATS, {**self.options, "content": _parts(text)}, key=str(uuid.uuid4())
        )
        self.said.append(text)
        self.chat = made["id"]
        kind = KINDS[int(self.name) % len(KINDS)]
        self.watcher = kind(choose_url(), TOKEN, self.chat, choose_url=choose_url)
        nursery.start_soon(self.watcher.watch)
        while not storm.is_over:
            await trio.sleep(self.rng.uniform(0.2, 3))
            await self._one(storm)

    async def _one(self, storm):
        if self.rng.random() < 0.6 or len(self.watcher.state.queue) >= BEHIND_MAX:
            await self._rests(storm)
        if storm.is_over:
            return
        if self.style == "interrupt" and self.rng.random() < 0.3:
            self.interrupts_count += 1
            path = f"{CHATS}/{self.chat}/interrupt"  # refused where there is nothing to interrupt
            await self.requests.ask("POST", path, unless=409)
        text = self._next()
        said = {"content": _parts(text)}
        if self.style in BUSY:
            said["busy_behavior"] = BUSY[self.style]
        path = f"{CHATS}/{self.chat}/messages"
        await self.requests.ask("POST", path, said, key=str(uuid.uuid4()))
        self.said.append(text)

    async def _rests(self, storm):
        with trio.move_on_after(REST_SECONDS_MAX):
            while self.watcher.state.status != "waiting" and not storm.is_over:
                await trio.sleep(0.1)

    def _next(self):
        """What is said next: no two messages of a storm are the same."""
        mark = f"m-{self.name}-{len(self.said) + 1}"
        pace = self.rng.choice([0, 10, 40])
        spoken = f"[[delta-ms: {pace}]] [[text: {answer_to(mark)}]]"
        match self.style:
            case "delegate":
                return f"delegate {mark}"
            case "work":
                seconds = self.rng.choice([0, 0, 0.5, 2])
                # The time of a daemon that is frozen meanwhile counts, and that of a slow machine.
                command = f"echo {mark} >> ran; sleep {seconds}"
                call = f'execute:{{"command": "{command}", "timeout": "5m"}}'
                return f"[[tool-calls: {call}]] {spoken} {mark}"
            case _:
                return f"{spoken} {mark}"


def mark_of(text):
    """The last word of a message: its own."""
    return text.split()[-1]


def answer_to(mark):
    return f"The whole answer to {mark} is this sentence and nothing beside it, as far as we know."


def answer_of(style, text):
    """What the last words of a turn must be that was not interrupted."""
    return f"heard: {REPORT}" if style == "delegate" else answer_to(mark_of(text))


def _parts(text):
    return [{"type": "text", "text": text}]
