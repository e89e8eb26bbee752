"""A storm over real daemons: they are killed, frozen and restarted, their database is restarted,
and users go on. When it is over, everything that was accepted is there, once.

    PROMPTCORNER_TORTURE_SECONDS=600    how long the storm lasts
    PROMPTCORNER_TORTURE_SEED=7         what happens in it; a failure names the seed
"""

import contextlib
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import trio

from adapters.postgres import embedded
from tests.e2e.daemons import environment
from tests.e2e.processes import EVENTUALLY_SECONDS, ROOT
from tests.e2e.providers import KEY, a_provider
from tests.e2e.torture import checks
from tests.e2e.torture.plan import plan_storm
from tests.e2e.torture.replicas import Site
from tests.e2e.torture.users import CHATS, STYLES, TOKEN, Requests, Talk

SECONDS = float(os.environ.get("PROMPTCORNER_TORTURE_SECONDS", "60"))
SEED = int(os.environ.get("PROMPTCORNER_TORTURE_SEED", "1"))
DAEMONS_COUNT = 3
TALKS_COUNT = 24
BEGIN_SECONDS_MAX = 120.0  # until every chat is there and watched; then the first strikes fall
LONGER_SECONDS_MAX = 240.0  # that users talk after the last strike, until enough has happened
QUIET_SECONDS_MAX = 240.0  # from the end of the storm until everything is at rest
LOOK_SECONDS = 0.5
DELEGATING = "default"  # what a compatible provider's model is called that has no other name
MAKES_A_WORKSPACE = '[[tool-calls: create_workspace:{"template_id": "empty"}]] make it'

pytestmark = [pytest.mark.slow, pytest.mark.timeout(SECONDS + 900)]


class Storm:
    """While it lasts, users talk and strikes fall."""

    def __init__(self, site, strikes, *, has_begun, is_enough):
        self.is_over = False
        self._has_begun = has_begun
        self._is_enough = is_enough
        self.struck = []
        self._site = site
        self._strikes = strikes

    @property
    def kinds(self):
        return {strike.kind for strike in self.struck}

    async def rage(self):
        """Each daemon, and the database, has strikes of its own: one after the other."""
        with trio.move_on_after(BEGIN_SECONDS_MAX):
            while not self._has_begun():
                await trio.sleep(LOOK_SECONDS)
        began = trio.current_time()
        targets = sorted({strike.target for strike in self._strikes})
        async with trio.open_nursery() as nursery:
            for target in targets:
                nursery.start_soon(self._rage_at, target, began)
            await trio.sleep_until(began + SECONDS)
        with trio.move_on_after(LONGER_SECONDS_MAX):
            while not self._is_enough():  # this machine is slow: little has happened yet
                await trio.sleep(LOOK_SECONDS)
        self.is_over = True  # and every daemon is there again

    async def _rage_at(self, target, began):
        for strike in self._strikes:
            if strike.target == target:
                await trio.sleep_until(began + strike.at)
                is_late = trio.current_time() > began + SECONDS  # this machine is slow
                if is_late and len(self.kinds) >= checks.KINDS_MIN:
                    return
                print(f"{trio.current_time() - began:6.1f} s, as planned for {strike}")
                self.struck.append(strike)
                await self._site.strike(strike)


@contextlib.contextmanager
def a_delegating_model():
    """The URL of a model that delegates, in a process of its own."""
    words = [sys.executable, "-m", "tests.e2e.delegating", "0.5"]
    process = subprocess.Popen(
        words, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True
    )
    try:
        yield process.stdout.readline().split()[-1]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def test_what_was_accepted_is_there_once_whatever_happens(home):
    strikes = plan_storm(SEED, seconds=SECONDS, daemons_count=DAEMONS_COUNT)
    print(f"seed {SEED}, {SECONDS:g} s:", *strikes, sep="\n")
    faults = ("--faults", "529@2%,reset:5@2%", "--seed", str(SEED))
    with (
        embedded.using(embedded.ClusterOptions(home)) as cluster,
        a_provider(*faults) as provider,
        a_delegating_model() as delegating,
    ):
        settings = {
            "PROMPTCORNER_ADMIN_TOKEN": TOKEN,
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": provider.url,
            "OPENAI_COMPAT_BASE_URL": f"{delegating}/v1",
        }
        site = Site(home, count=DAEMONS_COUNT, **settings)
        try:
            await site.start()
            found = await play(site, cluster.conninfo, strikes)
            for replica in site.replicas:
                replica.lives[-1].exit_code = await replica.stop()
        finally:
            site.end()
        found += checks.faults_of_logs(site.replicas)

    assert not found, "\n".join([f"seed {SEED}:", *map(str, found)])


async def play(site, conninfo, strikes):
    """A storm, and what does not hold when it is over."""
    rng = random.Random(f"users of {SEED}")
    requests = Requests(site, random.Random(f"requests of {SEED}"))
    options, path = await furnished(requests)
    talks = [a_talk(number, options, requests, rng) for number in range(TALKS_COUNT)]

    def is_enough():
        return not any(checks.lacks_of_storms(storm, talks, (path / "ran").exists()))

    def has_begun():
        return all(each.watcher and each.watcher.came for each in talks)

    storm = Storm(site, strikes, has_begun=has_begun, is_enough=is_enough)
    began = trio.current_time()
    async with trio.open_nursery() as watchers:
        async with trio.open_nursery() as users:
            users.start_soon(storm.rage)
            for each in talks:
                users.start_soon(each.go_on, storm, watchers, lambda: rng.choice(site.urls))
        print(f"the storm is over after {trio.current_time() - began:.1f} s")
        stored = await at_rest(conninfo)
        print(f"all is at rest after {trio.current_time() - began:.1f} s")
        shown = {each.chat: await said_in(requests, each.chat) for each in talks}
        await all_heard(talks, shown)
        watchers.cancel_scope.cancel()
    ran = (path / "ran").read_text().split()
    print(summary(storm, talks, requests, ran))
    return [
        *checks.faults_of_chats(stored, talks),
        *checks.faults_of_tools(stored, talks, ran),
        *checks.faults_of_families(stored, talks),
        *checks.faults_of_watchers(shown, talks),
        *checks.faults_of_storms(storm, talks, requests, ran),
    ]


def a_talk(number, options, requests, rng):
    style = STYLES[number % len(STYLES)]
    return Talk(str(number), style, requests, random.Random(rng.random()), options[style])


async def furnished(requests):
    """(what a new chat of each style is made with, the directory in which their tools work)."""
    me = await requests.ask("GET", "/api/v2/users/me")
    [organization, *_] = me["organization_ids"]
    plain = {"organization_id": organization}
    content = [{"type": "text", "text": MAKES_A_WORKSPACE}]
    maker = await requests.ask("POST", CHATS, {**plain, "content": content})
    made = await made_workspace(requests, maker["id"])
    chat = await requests.ask("GET", f"{CHATS}/{maker['id']}")
    configs = await requests.ask("GET", f"{CHATS}/model-configs")
    [delegating] = [each["id"] for each in configs if each["model"] == DELEGATING]
    options = dict.fromkeys(STYLES, plain)
    options["work"] = {**plain, "workspace_id": chat["workspace_id"]}
    options["delegate"] = {**plain, "model_config_id": delegating}
    return options, Path(made["path"])


async def made_workspace(requests, chat):
    with trio.fail_after(EVENTUALLY_SECONDS):
        while True:
            for message in (await said_in(requests, chat)).values():
                for part in message["content"]:
                    if part["type"] == "tool-result":
                        return part["result"]
            await trio.sleep(LOOK_SECONDS)


async def said_in(requests, chat):
    """Every message of a chat by its number, as the API shows it."""
    messages, page = {}, {"has_more": True}
    before = ""
    while page["has_more"]:
        page = await requests.ask("GET", f"{CHATS}/{chat}/messages?limit=200{before}")
        messages |= {message["id"]: message for message in page["messages"]}
        before = f"&before_id={min(messages, default=0)}"
    return messages


async def at_rest(conninfo):
    """All rows, once every chat is settled; as they are, if that takes too long."""
    until = trio.current_time() + QUIET_SECONDS_MAX
    while True:
        stored = await trio.to_thread.run_sync(checks.Stored, conninfo)
        if not (stored.busy() or stored.queued) or trio.current_time() > until:
            return stored
        await trio.sleep(LOOK_SECONDS)


async def all_heard(talks, shown):
    """Give watchers time to hear the rest; what they miss then, they have lost."""
    with trio.move_on_after(EVENTUALLY_SECONDS):
        while any(True for _ in checks.faults_of_watchers(shown, talks)):
            await trio.sleep(LOOK_SECONDS)


def summary(storm, talks, requests, ran):
    counted = Counter(strike.kind for strike in storm.struck)
    said = sum(len(each.said) for each in talks)
    connections = sum(each.watcher.came for each in talks)
    return (
        f"{dict(counted)}; {said} messages in {len(talks)} chats, {len(ran)} runs of a tool,"
        f" {connections} connections of watchers, {requests.refused_count} requests made again"
    )
