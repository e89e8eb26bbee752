"""`serve --processes`: several behind one address, one parent; killed, starved, told to stop."""

import contextlib
import os
import re
import signal
import sys
from pathlib import Path

import httpx2
import psutil
import pytest
import trio
from trio_websocket import open_websocket_url

from adapters.workspaces.terminals.wire import input_message, message_of_terminal
from tests.adapters.daemon.metrics.linting import faults_of, promtool_faults_of, sentences
from tests.e2e.conftest import a_database
from tests.e2e.crossing import ADMIN, HEADER, over, pieces, sites
from tests.e2e.daemons import STOP_SECONDS_MAX, Daemon, a_daemon, end_leases
from tests.e2e.processes import ROOT, belonging_to, eventually, free_ports
from tests.e2e.providers import a_provider
from tests.folders import a_folder
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

METRIC = re.compile(r"`(promptcorner_[a-z_]+)`")
CREATES = '[[tool-calls: create_workspace:{"template_id":"empty"}]] [[text: done]]'
PACED = "[[deltas: 60]] [[delta-ms: 20]]"
LONG = "[[deltas: 150]] [[delta-ms: 40]]"
SETTINGS = {
    "PROMPTCORNER_ADMIN_TOKEN": ADMIN,
    "PROMPTCORNER_DRAIN_SECONDS": "0",
}


def patiently(check, what):
    """Several processes start at once, on a machine that may be busy."""
    with contextlib.suppress(AssertionError):
        return eventually(check, what)
    return eventually(check, what)


class Family(Daemon):
    """One `promptcorner serve --processes N`."""

    def wait_ready(self):
        def ready():
            assert self.process.poll() is None, self._log.read_text()
            return self.entry("processes.ready")

        return patiently(ready, "all processes are ready")

    def all_of(self, event):
        return [entry for entry in self.entries if entry["event"] == event]

    def pids(self):
        """Of the processes that serve, by their numbers."""
        children = [each.pid for each in psutil.Process(self.process.pid).children()]
        return {number_of(pid): pid for pid in children if number_of(pid)}

    def kill_processes(self, *numbers):
        """End these as a crash would, and their leases as time would; the pids before that."""
        begun = [entry for entry in self.all_of("lease.begun") if entry["process"] in numbers]
        before = self.pids()
        for number in numbers:
            os.kill(before[number], signal.SIGKILL)
        eventually(lambda: not any(number_of(before[n]) for n in numbers), "they are gone")
        end_leases(self._database, {entry["worker"] for entry in begun})
        return before

    def wait_back(self, before, *numbers):
        """These have other processes now, and all are ready."""

        def back():
            now = self.pids()
            others = {n for n in before if now.get(n) not in (None, before[n])}
            return others == set(numbers) and len(self.all_of("daemon.ready")) >= self._ready_wanted

        self._ready_wanted = getattr(self, "_ready_wanted", len(before)) + len(numbers)
        patiently(back, f"{numbers} are back")

    def relay_urls(self):
        return {entry["process"]: entry["relay"] for entry in self.all_of("daemon.ready")}


def number_of(pid):
    """As its title tells; 0: it tells us nothing, or is no more."""
    with contextlib.suppress(OSError):
        title = Path(f"/proc/{pid}/comm").read_text().strip()
        if title.startswith("promptcorner:"):
            return int(title.partition(":")[2])
    return 0


@contextlib.contextmanager
def a_family(count, home, provider, database, **settings):
    settings = {
        **SETTINGS,
        **provider.settings,
        "DATABASE_URL": database,
        "PROMPTCORNER_PROCESSES": str(count),
        **settings,
    }
    with a_daemon(home, **{k: v for k, v in settings.items() if v is not None}) as daemon:
        daemon.__class__ = Family
        yield daemon


@pytest.fixture(scope="module")
def provider():
    with a_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def family(provider, server):
    """Three processes for many tests; whoever ends one of them waits until it is back."""
    with (
        a_folder() as top,
        a_database(server, "of_a_family") as database,
    ):
        own = {"PROMPTCORNER_RELAY_LISTEN": f"127.0.0.1:{free_ports(3)}"}
        with a_family(3, top / "home", provider, database, **own) as family:
            family.wait_ready()
            yield family
            assert 0 == family.stop()


async def test_processes_share_an_address_and_show_their_watchers_the_same(family):
    async with sites(family) as [site]:
        chats = [await site.create("[[deltas: 2]]") for _ in range(3)]
        watchers = {chat: [await site.watch(chat) for _ in range(6)] for chat in chats}
        with trio.fail_after(PATIENCE_SECONDS):
            while not all(sockets_opened(family)):  # the kernel deals them out by chance
                watchers[chats[0]].append(await site.watch(chats[0]))
        everybody = [seen for those in watchers.values() for seen in those]
        for seen in everybody:
            await seen.until(over)
            seen.events.clear()
        for chat in chats:
            await site.send(chat, PACED)

        for seen in everybody:
            await seen.until(over)

        for first, *others in watchers.values():
            assert 1 < len(first.pieces)  # how many it is depends on how busy the machine is
            assert all(first.pieces == seen.pieces for seen in others)
    served = [figures(url) for url in family.relay_urls().values()]
    assert sum(each["promptcorner_relays_pieces_total"] for each in served) > 0


def sockets_opened(family):
    """How many each process has opened."""
    pages = map(figures, family.relay_urls().values())
    return [page["promptcorner_server_sockets_opened_total"] for page in pages]


async def test_a_terminal_is_typed_into_and_come_back_to_through_any_process(family):
    async with sites(family) as [site]:
        await (await site.watch(await site.create(CREATES))).until(over)
        [space] = (await site.ask("GET", "/api/v2/workspaces"))["workspaces"]
        path = f"/api/v2/workspaces/{space['id']}/terminals"
        id = (await site.ask("POST", path))["id"]
        stream = f"{site.url.replace('http', 'ws')}{path}/{id}/stream"
        opened_before = sockets_opened(family)
        position = 0
        for number in range(12):
            headers = [(HEADER, ADMIN)]
            async with open_websocket_url(
                f"{stream}?after={position}", extra_headers=headers
            ) as socket:
                await socket.send_message(input_message(f"echo far-$(({number} + 100))\r".encode()))
                position = await _heard(socket, f"far-{number + 100}\r\n", position)
            assert [id] == [each["id"] for each in (await site.ask("GET", path))["terminals"]]
        opened = sockets_opened(family)
        after = [figures(url) for url in family.relay_urls().values()]
        await site.ask("DELETE", f"{path}/{id}")
        with trio.fail_after(PATIENCE_SECONDS):
            while (await site.ask("GET", path))["terminals"]:
                await trio.sleep(0.01)

    assert [0, 0, 1] == sorted(each["promptcorner_workspaces_terminals_running"] for each in after)
    assert 1 < sum(now > then for then, now in zip(opened_before, opened, strict=True))


async def _heard(socket, words, position):
    """Hear what a terminal writes behind a position until these words; return where that ends."""
    seen = b""
    with trio.fail_after(PATIENCE_SECONDS):
        while words.encode() not in seen:
            said = message_of_terminal(await socket.get_message())
            if isinstance(said, tuple):
                begins, data = said
                assert begins >= position, "nothing comes twice"
                seen, position = seen + data, begins + len(data)
    return position


def test_the_metrics_of_each_process_keep_the_rules_of_names_and_are_as_documented(family):
    documents = [path.read_text() for path in (ROOT / "docs").rglob("*.md")]
    documented = {name for text in documents for name in METRIC.findall(text)}
    documented -= {"promptcorner_client"}  # a package
    for url in family.relay_urls().values():
        page = httpx2.get(f"{url}/metrics", timeout=PATIENCE_SECONDS).text

        assert [] == faults_of(page)
        assert [] == list(sentences(page, "promptcorner"))
        assert "" == promtool_faults_of(page)
        assert documented <= set(re.findall(r"^# TYPE (\S+) ", page, re.M))


def figures(url):
    """The page of one process, without labels but the one that says which."""
    page = httpx2.get(f"{url}/metrics", timeout=PATIENCE_SECONDS).text
    lines = [line.rpartition(" ") for line in page.splitlines() if not line.startswith("#")]
    return {name.partition("{")[0]: float(value) for name, _, value in lines}


async def test_each_process_has_figures_of_its_own_at_an_address_of_its_own(family):
    urls = family.relay_urls()

    first = int(urls[1].rpartition(":")[2])
    assert {n: f"http://127.0.0.1:{first + n - 1}" for n in (1, 2, 3)} == urls
    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        for number, url in urls.items():
            page = (await client.get(f"{url}/metrics")).text
            samples = [line for line in page.splitlines() if not line.startswith("#")]
            assert all(f'{{process="{number}"' in line for line in samples)
            assert 200 == (await client.get(f"{url}/readyz")).status_code
            assert 401 == (await client.get(f"{url}/debug/actors")).status_code
            mine = await client.get(f"{url}/debug/actors", headers={HEADER: ADMIN})
            assert "relays" in mine.json()
            assert 404 == (await client.get(f"{url}/api/v2/users/me")).status_code


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere they are programs of their own")
def test_each_has_of_the_parent_and_the_others_its_sockets_and_nothing_else(family):
    open_of = {number: sockets_of(pid) for number, pid in family.pids().items()}
    of_parent = sockets_of(family.process.pid)

    for number, its_own in open_of.items():
        assert 1 == len(its_own & of_parent), "where it listens: lines have another end"
        for other in open_of.keys() - {number}:
            assert not its_own & open_of[other]
    assert 1 == len(os.listdir(f"/proc/{family.process.pid}/task")), "or none could be copied"


def sockets_of(pid):
    found = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            found.add(os.readlink(path))
    return {each for each in found if each.startswith("socket:")}


def test_each_start_has_a_name_of_its_own(family):
    begun = family.all_of("lease.begun")
    assert len(begun) == len({entry["worker"] for entry in begun}) >= 3


async def test_a_killed_process_is_started_again_and_the_others_take_its_chats(family):
    async with sites(family) as [site]:
        chats = [await site.create(LONG) for _ in range(6)]
        for chat in chats:
            await (await site.watch(chat)).until(pieces(1))

        before = family.kill_processes(2)
        again = [await site.watch(chat) for chat in chats]
        for seen in again:
            await seen.until(over, seconds=100)

        assert [1] * 6 == [seen.answers for seen in again]
        family.wait_back(before, 2)
        ended = family.all_of("process.ended")[-1]
        assert (2, before[2]) == (ended["number"], ended["pid"])
        assert "was ended by SIGKILL" == ended["why"]


async def test_a_process_that_is_told_to_stop_alone_has_a_successor(family):
    before = family.pids()

    os.kill(before[3], signal.SIGTERM)

    family.wait_back(before, 3)
    assert "ended with exit code 0" == family.all_of("process.ended")[-1]["why"]


async def test_whoever_connects_while_no_process_is_there_waits_for_one(family):
    url = "http://" + family.wait_ready()["listen"]
    before = family.kill_processes(1, 2, 3)

    async with (
        httpx2.AsyncClient(timeout=2 * PATIENCE_SECONDS) as client,
        trio.open_nursery() as nursery,
    ):

        async def ask():
            assert 200 == (await client.get(f"{url}/readyz")).status_code

        for _ in range(10):
            nursery.start_soon(ask)
    family.wait_back(before, 1, 2, 3)


def test_two_families_do_not_share_an_address(family, home, provider):
    listen = family.wait_ready()["listen"]

    with a_family(2, home, provider, "postgresql://nowhere/x", listen=listen) as other:
        assert 1 == other.process.wait(100)
        assert "another program listens there already" in other._log.read_text()

    assert family.is_ready()


async def test_told_to_stop_all_finish_what_runs_and_nobody_is_left(home, provider, database):
    with a_family(2, home, provider, database, PROMPTCORNER_DRAIN_SECONDS="30") as family:
        async with sites(family) as [site]:
            chats = [await site.create("[[deltas: 20]] [[delta-ms: 50]]") for _ in range(4)]
            for chat in chats:
                await provider.asked(chat)

            assert 0 == family.stop()

        drained = family.all_of("supervisor.drained")
        assert (2, 0) == (len(drained), sum(entry["cut"] for entry in drained))
        assert 2 == len(family.all_of("daemon.stopped"))


async def test_a_second_signal_ends_all_at_once(home, provider, database):
    with a_family(2, home, provider, database, PROMPTCORNER_DRAIN_SECONDS="60") as family:
        async with sites(family) as [site]:
            chat = await site.create("[[deltas: 600]] [[delta-ms: 100]]")
            await provider.asked(chat)
        pids = list(family.pids().values())
        family.process.send_signal(signal.SIGTERM)
        eventually(lambda: family.entry("processes.stopping"), "it has heard")
        family.process.send_signal(signal.SIGINT)

        assert 128 + signal.SIGINT == family.process.wait(STOP_SECONDS_MAX)
        eventually(lambda: not any(map(number_of, pids)), "all are gone")


def test_a_killed_parent_leaves_nobody_behind(home, provider, database):
    with a_family(2, home, provider, database) as family:
        family.wait_ready()
        pids = list(family.pids().values())

        family.process.kill()

        eventually(lambda: not any(map(number_of, pids)), "the processes have followed")
        stopped = family.all_of("daemon.stopping")
        assert ["the parent is gone"] * 2 == [entry["cause"] for entry in stopped]


async def test_a_parent_with_threads_starts_programs(home, provider, database):
    with a_folder() as top:
        (top / "sitecustomize.py").write_text(
            "import threading, time\n"
            "threading.Thread(target=time.sleep, args=[3600], daemon=True).start()\n"
        )
        path = os.pathsep.join(map(str, (top, ROOT, ROOT / "client")))
        with a_family(2, home, provider, database, PYTHONPATH=path) as family:
            family.wait_ready()
            children = psutil.Process(family.process.pid).children()

            assert [] == [each.pid for each in children if number_of(each.pid)]
            assert 2 == len({each.pid for each in children if "promptcorner" in each.cmdline()})
            assert 0 == family.stop()


def test_processes_that_cannot_start_say_why_and_end(home, provider):
    with a_family(2, home, provider, "postgresql://u:p@127.0.0.1:1/x") as family:
        assert 1 == family.process.wait(100)
        theirs, ours = family._log.read_text().splitlines()[-2:]
        assert "promptcorner: process 1: it did not start; its own words stand above" == ours
        assert theirs.startswith("promptcorner: database 127.0.0.1:1/x")


async def test_an_embedded_database_is_shared_and_the_admin_gets_one_link(home, provider):
    few = {"PROMPTCORNER_POOL_SIZE": "10", "PROMPTCORNER_ADMIN_TOKEN": None}
    with a_family(2, home, provider, "", **few) as family:
        family.wait_ready()
        assert 1 == len([e for e in family.all_of("daemon.ready") if e["migrated"]])
        [invited] = family.all_of("admin.invited")
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as client:
            assert 200 == (await client.get(invited["link"])).status_code
        assert 0 == family.stop()
    eventually(lambda: not belonging_to(home), "the database has stopped")


def test_an_embedded_database_is_not_promised_twice(home, provider):
    with a_family(8, home, provider, "", PROMPTCORNER_POOL_SIZE="24") as family:
        assert 1 == family.process.wait(60)
        assert (
            "promptcorner: config: 8 processes take 256 connections, the embedded server 200;"
            " set pool_size to 17 or less, or start fewer\n"
        ) == family._log.read_text()
