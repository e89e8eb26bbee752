"""A parent that spawns an agent and waits for it, cut at every moment by everything that happens to
daemons: nobody is orphaned or spawned twice, and no report comes twice or gets lost.
"""

import contextlib
import json
import os
import signal

import pytest
import trio

from actors.law.chat import Role
from actors.law.parts.message import ToolCallPart, ToolResultPart
from actors.law.refusals import NotAllowed
from actors.law.requests import Interrupt
from adapters.postgres.family import PostgresFamily
from tests.e2e.clients import AT_REST, a_client, status, text_of
from tests.e2e.conftest import a_database
from tests.e2e.daemons import a_daemon, holder_among
from tests.e2e.delegating import REPORT, a_model
from tests.e2e.pausing import MOMENTS, a_pause
from tests.e2e.processes import free_ports

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def port():
    """Of the model, for as long as the daemons live."""
    return free_ports()


class Company:
    """Two daemons on one database. Whoever is ended has a successor."""

    def __init__(self, stack, home, database, port):
        self.database = database
        self._stack, self._home = stack, home
        self._settings = {
            "DATABASE_URL": database,
            "OPENAI_COMPAT_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "PROMPTCORNER_DRAIN_SECONDS": "0",
        }
        self.daemons = [self._start(), self._start()]

    def _start(self):
        return self._stack.enter_context(a_daemon(self._home, **self._settings))

    def wait_ready(self):
        for daemon in self.daemons:
            daemon.wait_ready()

    def end(self, worker, number):
        """End the process that works in this name; another one is started."""
        ended = holder_among(self.daemons, worker)
        if number == signal.SIGKILL:
            ended.kill()
        else:
            ended.process.send_signal(number)
        self.daemons = [each for each in self.daemons if each is not ended] + [self._start()]
        return ended


@pytest.fixture(scope="module")
def company(port, server, tmp_path_factory):
    with a_database(server, "families") as database, contextlib.ExitStack() as stack:
        company = Company(stack, tmp_path_factory.mktemp("families"), database, port)
        company.wait_ready()
        yield company


class Story:
    """One family in one company."""

    def __init__(self, company, client, model):
        self.company, self.client, self.model = company, client, model
        self.family = PostgresFamily(client.pool)
        self.parent = None

    async def begin(self):
        self.parent = await self.client.create("delegate")

    async def children(self):
        page = await self.family.children(self.parent, limit=10, offset=0)
        return [child.id for child in page.members]

    async def at_rest(self):
        await self.client.until(self.parent, *AT_REST)
        for child in await self.children():
            await self.client.until(child, *AT_REST)

    async def results(self):
        """What the parent was told, by the calls of its model: each has one."""
        parts = [part for row in await self.client.history(self.parent) for part in row.body.parts]
        calls = [part.id for part in parts if isinstance(part, ToolCallPart)]
        results = [part for part in parts if isinstance(part, ToolResultPart)]
        assert sorted(calls) == sorted(result.id for result in results)
        return {result.name: json.loads(result.result) for result in results}

    async def answers(self, child):
        rows = await self.client.history(child)
        return [text_of(row.body) for row in rows if row.body.role is Role.ASSISTANT]

    async def end_holder(self, number):
        stored = await self.client.view(self.parent)
        holder = (
            stored.chat.holder or (await self.client.view((await self.children())[0])).chat.holder
        )
        return self.company.end(holder.worker, number)


@pytest.fixture
async def story(company, port):
    company.wait_ready()
    async with a_model(port) as model, a_client(company.database) as client:
        yield Story(company, client, model)


async def nothing_is_left(story):
    """The family can be archived, and nobody in it goes on."""
    made = await story.client.ledger.archive_family(story.parent, archived=True)
    assert not isinstance(made, NotAllowed), made
    assert all(member.chat.archived for member in made)
    assert [status(await story.client.view(member.chat.id)) for member in made] == [
        member.chat.status.value for member in made
    ]


async def all_was_done_once(story):
    [child] = await story.children()
    told = await story.results()
    [*_, (role, said)] = await story.client.said(story.parent)

    assert str(child) == told["spawn_agent"]["chat_id"] == told["wait_agent"]["chat_id"]
    assert ("assistant", f"heard: {REPORT}") == (role, said)
    assert [REPORT] == await story.answers(child)


# the process is ended


async def killed(story, pause):
    """What it had asked of the database comes to pass, though nobody hears of it any more."""
    await story.end_holder(signal.SIGKILL)
    pause.release()


async def killed_unheard(story, pause):
    """What it had asked of the database never comes to pass."""
    await story.end_holder(signal.SIGKILL)
    pause.lose()


async def told_to_stop(story, pause):
    ended = await story.end_holder(signal.SIGTERM)
    pause.release()
    assert 0 == await trio.to_thread.run_sync(ended.process.wait)


CAUSES = (killed, killed_unheard, told_to_stop)
# At each moment one of them, and each at three; PROMPTCORNER_MOMENTS=all has all of them at all.
CUTS = [
    pytest.param(moment, cause, id=f"{moment}-{cause.__name__}")
    for at, moment in enumerate(MOMENTS)
    for turn, cause in enumerate(CAUSES)
    if (at + turn) % len(CAUSES) == 0 or os.environ.get("PROMPTCORNER_MOMENTS") == "all"
]


@pytest.mark.parametrize(("moment", "cause"), CUTS)
async def test_whoever_is_ended_has_somebody_who_goes_on(story, moment, cause):
    async with a_pause(story.company.database, MOMENTS[moment]) as pause:
        await story.begin()
        await pause.reached()

        await cause(story, pause)
        await story.at_rest()

    await all_was_done_once(story)
    await nothing_is_left(story)


# somebody does something to the family


async def the_parent_is_interrupted(story):
    await story.client.ledger.apply(story.parent, [Interrupt()])


async def the_family_is_archived(story):
    assert isinstance(
        await story.client.ledger.archive_family(story.parent, archived=True), NotAllowed
    )


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_parent_that_is_interrupted_leaves_nobody_behind(story, moment):
    async with a_pause(story.company.database, MOMENTS[moment]) as pause:
        await story.begin()
        await pause.reached()

        await pause.meanwhile(the_parent_is_interrupted, story)
        await story.at_rest()

    children, told = await story.children(), await story.results()
    if "chat_id" in told["spawn_agent"]:
        assert [told["spawn_agent"]["chat_id"]] == list(map(str, children))
    assert len(children) <= 1
    for child in children:
        assert [REPORT] == await story.answers(child)
    await nothing_is_left(story)


@pytest.mark.parametrize("moment", [each for each in MOMENTS if each != "the parent is done"])
async def test_a_family_at_work_is_not_archived(story, moment):
    async with a_pause(story.company.database, MOMENTS[moment]) as pause:
        await story.begin()
        await pause.reached()

        await pause.meanwhile(the_family_is_archived, story)
        await story.at_rest()

    await all_was_done_once(story)
    await nothing_is_left(story)


@pytest.mark.parametrize(
    "moment", ["the spawn has ended", "the spawn is committed", "the wait begins"]
)
async def test_an_agent_that_is_interrupted_is_reported_as_unfinished(story, moment):
    story.model.hold("child")
    async with a_pause(story.company.database, MOMENTS[moment]) as pause:
        await story.begin()
        await pause.reached()
        [child] = await story.children()
        await story.model.asked("child")

        await story.client.ask(child, Interrupt())
        pause.release()
        await story.at_rest()

    told = (await story.results())["wait_agent"]
    assert ("", True) == (told["report"], told["unfinished"])
    assert [] == await story.answers(child)
    await nothing_is_left(story)


async def test_an_agent_that_settles_as_it_is_interrupted_is_reported_once(story):
    async with a_pause(story.company.database, MOMENTS["the agent settles"]) as pause:
        await story.begin()
        await pause.reached()
        [child] = await story.children()

        await pause.meanwhile(story.client.ledger.apply, child, [Interrupt()])
        await story.at_rest()

    await all_was_done_once(story)
    await nothing_is_left(story)


@pytest.mark.parametrize("what", ["wait", "child", "answer"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_whoever_is_ended_while_a_model_thinks_has_somebody_who_asks_again(
    story, what, number
):
    story.model.hold(what)
    await story.begin()
    await story.model.asked(what)

    ended = await story.end_holder(number)
    await trio.to_thread.run_sync(ended.process.wait)
    story.model.let_go()
    await story.at_rest()

    await all_was_done_once(story)
    await nothing_is_left(story)
