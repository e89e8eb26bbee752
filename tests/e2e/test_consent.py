"""Consent with real daemons, killed at each moment: what was allowed runs once, the rest never."""

import json
from contextlib import asynccontextmanager
from uuid import UUID

import httpx2
import psycopg
import pytest
import trio

from actors.chat.turn.tool_batch import MAY_HAVE_RUN
from actors.law.answers import DENIED, LATE
from promptcorner_client import api as client_api
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.transcript import Transcript
from tests.adapters.workspaces.context.ground import put
from tests.e2e.clients import a_client
from tests.e2e.daemons import a_daemon
from tests.e2e.pausing import a_pause
from tests.e2e.processes import EVENTUALLY_SECONDS
from tests.e2e.providers import a_provider
from tests.e2e.watchers import HEADER

pytestmark = pytest.mark.slow

TOKEN = "a-token-of-the-first-admin-for-these-tests"
CHATS = "/api/experimental/chats"
SETTINGS = {
    "PROMPTCORNER_ADMIN_TOKEN": TOKEN,
    "PROMPTCORNER_DRAIN_SECONDS": "0",
    "PROMPTCORNER_SANDBOX": "none",
    "PROMPTCORNER_APPROVAL_RULES": "create_workspace=allow",
    "PROMPTCORNER_APPROVAL_POLICY": "ask",
}
WORKSPACE = '[[tool-calls: create_workspace:{"template_id": "web"}]] [[text: here]] begin'
THE_CALL_BEGINS = ("tool_calls", "INSERT", "NEW.name = 'execute'")


@pytest.fixture
def provider():
    with a_provider() as provider:
        yield provider


@pytest.fixture
def settings(home, provider, database):
    put(home / "templates/web", **{"README.md": "a place"})
    return {**SETTINGS, **provider.settings, "DATABASE_URL": database}


@pytest.fixture
def mark(tmp_path):
    """A file that gets a line each time the command runs."""
    return tmp_path / "ran"


def runs(mark):
    return mark.read_text().count("x") if mark.exists() else 0


def calls(*commands, text="done"):
    """What makes the model call `execute` with each of these, and then say that."""
    made = " ".join(f"execute:{json.dumps({'command': command})}" for command in commands)
    return f"[[tool-calls: {made}]] [[text: {text}]] go"


def marking(mark, then="true"):
    return f"echo x >> {mark}; {then}"


class Api:
    """A daemon as its owner sees it, and one chat with a workspace."""

    def __init__(self, client):
        self.client = client
        self.chat = ""

    async def good(self, method, path, document=None):
        answer = await self.client.request(method, f"{CHATS}{path}", json=document)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    async def begin(self, **new):
        [organization, *_] = (await self.client.get("/api/v2/organizations")).json()
        content = [{"type": "text", "text": WORKSPACE}]
        new = {"organization_id": organization["id"], "content": content, **new}
        self.chat = (await self.good("POST", "", new))["id"]
        await self.until("waiting")

    async def say(self, text):
        content = [{"type": "text", "text": text}]
        await self.good("POST", f"/{self.chat}/messages", {"content": content})

    async def shown(self):
        return await self.good("GET", f"/{self.chat}")

    async def until(self, status):
        with trio.fail_after(EVENTUALLY_SECONDS):
            while (shown := await self.shown())["status"] != status:
                await trio.sleep(0.02)
        return shown

    async def asked(self):
        """Wait until somebody is asked; the calls."""
        with trio.fail_after(EVENTUALLY_SECONDS):
            while not (found := (await self.family())["approvals"]):
                await trio.sleep(0.02)
        return found

    async def family(self):
        return await self.good("GET", f"/{self.chat}/approvals")

    async def decide(self, approval, decision="allow_once", **more):
        path = f"{CHATS}/{self.chat}/approvals/{approval['tool_call_id']}"
        document = {"decision": decision, **more}
        return (await self.client.post(path, json=document)).status_code

    async def messages(self):
        return (await self.good("GET", f"/{self.chat}/messages"))["messages"]

    async def said(self):
        return json.dumps(await self.messages())

    async def calls_of(self, tool):
        parts = [part for message in await self.messages() for part in message["content"]]
        found = [part for part in parts if part["type"] == "tool-call"]
        return [part for part in found if part["tool_name"] == tool]


@asynccontextmanager
async def api_of(daemon, chat=""):
    url = "http://" + daemon.wait_ready()["listen"]
    headers = {HEADER: TOKEN}
    asked = httpx2.AsyncClient(base_url=url, headers=headers, timeout=EVENTUALLY_SECONDS)
    async with asked as client:
        api = Api(client)
        api.chat = chat
        yield api


async def test_an_ask_outlives_the_daemon_and_runs_once_when_it_is_allowed(home, settings, mark):
    with a_daemon(home, **settings) as first:
        async with api_of(first) as api:
            await api.begin()
            await api.say(calls(marking(mark)))
            before = await api.asked()
        first.kill()

    with a_daemon(home, **settings) as second:
        async with api_of(second, api.chat) as api:
            after = await api.asked()
            shown = (await api.until("requires_action"))["approvals"]
            allowed = await api.decide(after[0])
            await api.until("waiting")

    assert before == after == shown
    assert (200, 1) == (allowed, runs(mark))


async def test_killed_between_the_decision_and_the_call_it_still_runs_once(
    home, settings, mark, database
):
    with a_daemon(home, **settings) as first:
        async with api_of(first) as api:
            await api.begin()
            await api.say(calls(marking(mark)))
            [asked] = await api.asked()
            async with a_pause(database, THE_CALL_BEGINS) as pause:
                assert 200 == await api.decide(asked)
                await pause.reached()
                first.kill()
                pause.lose()
        before = runs(mark)

    with a_daemon(home, **settings) as second:
        async with api_of(second, api.chat) as api:
            await api.until("waiting")

    assert (0, 1) == (before, runs(mark))


async def test_killed_while_it_runs_it_is_not_run_again_and_the_model_is_told(home, settings, mark):
    with a_daemon(home, **settings) as first:
        async with api_of(first) as api:
            await api.begin()
            await api.say(calls(marking(mark, "sleep 60")))
            [asked] = await api.asked()
            await api.decide(asked)
            with trio.fail_after(EVENTUALLY_SECONDS):
                while not runs(mark):
                    await trio.sleep(0.02)
        first.kill()

    with a_daemon(home, **settings) as second:
        async with api_of(second, api.chat) as api:
            await api.until("waiting")
            said = await api.said()

    assert 1 == runs(mark)
    assert MAY_HAVE_RUN[:60] in said


async def test_killed_when_it_has_run_its_result_is_kept(home, settings, mark, database):
    with a_daemon(home, **settings) as first:
        async with api_of(first) as api:
            await api.begin()
            await api.say(calls(marking(mark, "echo the result")))
            [asked] = await api.asked()
            moment = ("messages", "INSERT", "NEW.role = 'tool' AND NEW.content::text ~ 'result'")
            async with a_pause(database, moment) as pause:
                await api.decide(asked)
                await pause.reached()
                first.kill()
                pause.lose()

    with a_daemon(home, **settings) as second:
        async with api_of(second, api.chat) as api:
            await api.until("waiting")
            said = await api.said()

    assert 1 == runs(mark)
    assert "the result" in said


async def test_of_two_daemons_asked_at_once_one_decides_and_it_runs_once(home, settings, mark):
    with a_daemon(home, **settings) as one, a_daemon(home, **settings) as two:
        async with api_of(one) as first, api_of(two) as second:
            await first.begin()
            second.chat = first.chat
            await first.say(calls(marking(mark)))
            [asked] = await second.asked()
            answers = []

            async def decide(api, decision):
                answers.append(await api.decide(asked, decision))

            async with trio.open_nursery() as together:
                for api in (first, second) * 4:
                    together.start_soon(decide, api, "allow_once")
            await first.until("waiting")

    assert [200, *[409] * 7] == sorted(answers)
    assert 1 == runs(mark)


async def test_a_denial_reaches_the_model_in_the_words_of_the_person(
    home, settings, mark, provider
):
    with a_daemon(home, **settings) as daemon:
        async with api_of(daemon) as api:
            await api.begin()
            await api.say(calls(marking(mark)))
            [asked] = await api.asked()
            await api.decide(asked, "deny", words="use make instead")
            await api.until("waiting")

    told = json.dumps(provider.requests(api.chat)[-1]["body"])
    assert f"{DENIED}. They say: use make instead" in told
    assert 0 == runs(mark)


async def test_what_nobody_decides_is_denied_in_time(home, settings, mark, provider):
    with a_daemon(home, **{**settings, "PROMPTCORNER_APPROVAL_DEADLINE": "0.5"}) as daemon:
        async with api_of(daemon) as api:
            await api.begin()
            await api.say(calls(marking(mark)))
            await api.until("waiting")
            [call] = await api.calls_of("execute")
            late = await api.decide(call)

    assert LATE in json.dumps(provider.requests(api.chat)[-1]["body"])
    assert (409, 0) == (late, runs(mark))


async def test_what_is_allowed_always_is_asked_again_once_that_is_taken_back(home, settings, mark):
    with a_daemon(home, **settings) as daemon:
        async with api_of(daemon) as api:
            await api.begin()
            await api.say(calls(marking(mark), marking(mark)))
            asked = await api.asked()
            await api.decide(asked[0], "allow_always")
            await api.until("waiting")
            await api.say(calls(marking(mark)))
            await api.until("waiting")
            unasked = runs(mark)
            async with our_client(daemon) as client:
                before = await client.request(client_api.approvals(UUID(api.chat)))
                await client.request(client_api.revoke_always(UUID(api.chat), "execute"))
                after = await client.request(client_api.approvals(UUID(api.chat)))
            await api.say(calls(marking(mark)))
            again = await api.asked()

    assert (2, 3, 1) == (len(asked), unasked, len(again))
    assert (["execute"], []) == ([grant.tool_name for grant in before.always], list(after.always))


async def test_an_interrupt_while_somebody_is_asked_runs_nothing(home, settings, mark):
    with a_daemon(home, **settings) as daemon:
        async with api_of(daemon) as api:
            await api.begin()
            await api.say(calls(marking(mark)))
            await api.asked()
            await api.good("POST", f"/{api.chat}/interrupt")
            await api.until("waiting")
            family = await api.family()

    assert ([], [], 0) == (family["approvals"], family["decided"], runs(mark))


async def test_an_unattended_chat_is_denied_at_once(home, settings, mark, provider):
    with a_daemon(home, **settings) as daemon:
        async with api_of(daemon) as api:
            await api.begin(approval_policy="deny")
            await api.say(calls(marking(mark)))
            await api.until("waiting")

    told = json.dumps(provider.requests(api.chat)[-1]["body"])
    assert "there is nobody to give it" in told
    assert 0 == runs(mark)


async def test_an_agent_asks_at_its_root_while_its_parent_waits(home, settings, mark, database):
    with a_daemon(home, **settings) as daemon:
        async with api_of(daemon) as api, a_client(database) as store:
            await api.begin()
            place = UUID((await api.shown())["workspace_id"])
            store.user = owner_of(database, api.chat)
            root = UUID(api.chat)
            family = {"parent_id": root, "root_id": root, "workspace_id": place}
            child = await store.create(calls(marking(mark), text="my report"), **family)
            await api.say(f'[[tool-calls: wait_agent:{{"chat_id": "{child}"}}]] [[text: read]] go')
            async with watching(daemon, api.chat) as told:
                with trio.fail_after(EVENTUALLY_SECONDS):
                    while not told.approvals:
                        await trio.sleep(0.02)
                [asked] = told.approvals
                waits = (await api.shown())["status"]
                await api.decide({"tool_call_id": asked.tool_call_id})
                await api.until("waiting")
                with trio.fail_after(EVENTUALLY_SECONDS):
                    while told.approvals:
                        await trio.sleep(0.02)
            said = await api.said()

    assert (child, "running") == (asked.chat_id, waits)
    assert "my report" in said
    assert 1 == runs(mark)


async def test_who_comes_back_is_shown_what_waits(home, settings, mark):
    with a_daemon(home, **settings) as daemon:
        async with api_of(daemon) as api:
            await api.begin()
            await api.say(calls(marking(mark)))
            [asked] = await api.asked()
            async with watching(daemon, api.chat) as told:
                with trio.fail_after(EVENTUALLY_SECONDS):
                    while not (told.approvals and told.status):
                        await trio.sleep(0.02)

    assert [asked["tool_call_id"]] == [one.tool_call_id for one in told.approvals]
    assert "requires_action" == told.status


@asynccontextmanager
async def watching(daemon, chat):
    """The picture that somebody has who watches the chat."""
    told = Transcript()

    async def watch(client):
        async with client.follow(UUID(chat)) as events:
            async for event in events:
                told.apply(event)

    async with our_client(daemon) as client, trio.open_nursery() as nursery:
        nursery.start_soon(watch, client)
        yield told
        nursery.cancel_scope.cancel()


def our_client(daemon):
    return AsyncClient("http://" + daemon.wait_ready()["listen"], TOKEN)


def owner_of(database, chat):
    with psycopg.connect(database) as connection:
        [owner] = connection.execute("SELECT owner_id FROM chats WHERE id = %s", (chat,)).fetchone()
        return owner
