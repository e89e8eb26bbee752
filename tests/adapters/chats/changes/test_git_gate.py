"""git pushes and fetches from inside the sandbox, and the token never enters it."""

import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from threading import Barrier
from uuid import uuid4

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.law.store.hints import WorkspaceClosed
from adapters.chats.changes.branches import BranchFinder
from adapters.chats.changes.git_gate.gates import GateClosed, open_gates
from adapters.chats.changes.git_gate.git_http import git_request, pushed_branches, redirected
from adapters.chats.changes.store import BranchStore, ForgeTokenStore, forge_token_subject
from adapters.postgres.bus import Switchboard
from adapters.settings.forges import Forges
from adapters.tools.mcp.oauth.guard import guarded_dial
from adapters.workspaces.commands.sandbox import Unconfined, sandbox_of
from tests.actors.law.chats import ANN, BOB
from tests.adapters.chats.changes.ground import LOOPBACK, VAULT
from tests.adapters.postgres.stores import open_store
from tests.adapters.tools.built_in.workspace.conftest import a_daemon
from tests.conftest import NO_LFS
from tests.fakes.forge import TOKEN, Raw, a_forge, git
from tests.patience import PATIENCE_SECONDS

CLONES = (
    "git clone -q https://{host}/ann/tools.git && cd tools &&"
    " git config user.name a && git config user.email a@test && git checkout -q -b topic/1 &&"
    " echo x > a.txt && git add a.txt && git commit -q -m change"
)


class Place:
    def __init__(self, store, daemon, forge, gates, bus, chat):
        self.store, self.daemon, self.forge = store, daemon, forge
        self.gates, self.bus, self.chat = gates, bus, chat

    async def does(self, command, chat=None):
        with trio.fail_after(PATIENCE_SECONDS):
            return await self.daemon.call(chat or self.chat, "execute", command=command)

    async def clones(self):
        done = await self.does(CLONES.format(host=self.forge.host))
        assert done["success"], done

    async def bring(self, owner=ANN, token=TOKEN):
        sealed = VAULT.seal(token, forge_token_subject(owner, self.forge.host))
        tokens = ForgeTokenStore(self.store.pool, tell=self.bus.tell)
        await tokens.put(owner, self.forge.host, sealed)

    async def row(self):
        rows = await self.store.execute(
            "SELECT chat_id, branch, path, pushed_at IS NOT NULL FROM diff_statuses"
        )
        return [tuple(row) for row in rows]

    def pushed(self):
        bare = self.forge.root / "ann/tools.git"
        return git(bare, "for-each-ref", "--format=%(refname)").split()


@asynccontextmanager
async def a_place(store, top, sandbox):
    bus = Switchboard()
    async with (
        a_forge(top / "forge") as forge,
        a_daemon(store, top, sandbox, bus=bus) as daemon,
    ):
        forge.add("ann/tools")
        forges = Forges().read(f"github={forge.url}")
        finder = BranchFinder(
            daemon.workspaces, BranchStore(store.pool, tell=store.told.append), forges
        )
        tokens = ForgeTokenStore(store.pool, tell=bus.tell)
        dial = guarded_dial(LOOPBACK)
        async with open_gates(
            top / "gates", tokens, finder, VAULT, forges, dial=dial, bus=bus
        ) as gates:
            daemon.workspaces.gates = gates
            chat = await daemon.chat(title="t")
            await daemon.home(chat)
            yield Place(store, daemon, forge, gates, bus, chat)


async def a_sandbox(kind):
    if kind == "none":
        return Unconfined()
    return await sandbox_of("bubblewrap", {}, network=kind == "network")


@pytest.fixture(params=["sandbox", "network", "none"])
async def each(migrated, tmp_path, request):
    async with open_store(migrated) as store:
        await store.add_users(ANN, BOB)
        async with a_place(store, tmp_path, await a_sandbox(request.param)) as place:
            yield place


@pytest.fixture
async def place(migrated, tmp_path):
    async with open_store(migrated) as store:
        await store.add_users(ANN, BOB)
        async with a_place(store, tmp_path, await a_sandbox("sandbox")) as place:
            yield place


async def test_git_clones_commits_and_pushes_and_the_branch_is_known(each):
    place = each
    await place.bring()
    await place.clones()

    pushed = await place.does("cd tools && git push -u origin topic/1 2>&1 && git fetch 2>&1")

    assert pushed["success"], pushed
    assert ["refs/heads/main", "refs/heads/topic/1"] == place.pushed()
    assert [(place.chat.id, "topic/1", "ann/tools", True)] == await place.row()
    statistics = place.gates.statistics()
    assert (1, 1) == (statistics.open, statistics.pushes_count)


async def test_the_token_is_nowhere_in_the_sandbox(each):
    place = each
    await place.bring()
    await place.clones()

    looks = (
        "cd tools; GIT_TRACE=1 GIT_TRACE_CURL=1 GIT_CURL_VERBOSE=1 git push origin topic/1 2>&1;"
        " env; git config --list; cat /run/promptcorner/* 2>/dev/null; cat .git/config;"
        " cat /proc/*/environ | tr '\\0' '\\n'; true"
    )
    seen = await place.does(looks)

    assert "topic/1" in seen["output"]
    assert TOKEN not in seen["output"]
    assert "eC1hY2Nlc3MtdG9rZW4" not in seen["output"]  # base64 of the pair that is sent


async def test_ssh_addresses_of_the_forge_go_the_same_way(place):
    await place.bring()

    name = place.forge.host.partition(":")[0]
    done = await place.does(f"git ls-remote git@{name}:ann/tools.git 2>&1")

    assert "refs/heads/main" in done["output"], done


async def test_without_a_token_there_is_no_gate_and_nothing_is_asked(place):
    done = await place.does("env | grep -c PROMPTCORNER_GIT; ls /run/promptcorner 2>&1")

    assert done["output"].startswith("0\n")
    assert "No such file" in done["output"]
    assert 0 == place.gates.statistics().open


@asynccontextmanager
async def all_lent(pool):
    """Every connection is lent, so each task that asks the database waits."""
    async with AsyncExitStack() as held:
        for _ in range(pool.statistics().size):
            await held.enter_async_context(pool.connection())
        yield


async def until_asked(pool):
    with trio.fail_after(PATIENCE_SECONDS):
        while not pool.statistics().waiting:
            await trio.sleep(0.002)


async def test_a_command_that_is_stopped_while_it_looks_for_tokens_harms_no_later_one(place):
    await place.bring()
    pool = place.store.pool
    async with all_lent(pool), trio.open_nursery() as nursery:
        nursery.start_soon(place.gates.of, uuid4(), ANN)
        await until_asked(pool)
        nursery.cancel_scope.cancel()

    assert await place.gates.of(uuid4(), ANN) is not None


async def test_commands_at_one_moment_wait_for_the_same_look_for_tokens(place):
    await place.bring()
    pool, found = place.store.pool, []

    async def ask():
        found.append(await place.gates.of(uuid4(), ANN))

    async with trio.open_nursery() as nursery, all_lent(pool):
        for _ in range(3):
            nursery.start_soon(ask)
        await until_asked(pool)
        await wait_all_tasks_blocked()
        looks = pool.statistics().waiting

    assert (1, 3) == (looks, len(found))
    assert None not in found


async def test_the_token_of_another_user_is_not_used(place):
    await place.bring(BOB)

    done = await place.does(f"git ls-remote https://{place.forge.host}/ann/tools.git 2>&1")

    assert not done["success"]
    assert [] == place.forge.asked


async def test_a_token_that_was_taken_back_opens_nothing_more(place):
    await place.bring()
    await place.clones()
    asked = len(place.forge.asked)
    await ForgeTokenStore(place.store.pool, tell=lambda hint: None).delete(ANN, place.forge.host)

    done = await place.does("cd tools && git push origin topic/1 2>&1")

    assert "has no token" in done["output"], done
    assert asked == len(place.forge.asked)


async def test_a_token_that_the_forge_refuses_says_so(place):
    await place.bring(token="another-token-0123456789")

    done = await place.does(f"git ls-remote https://{place.forge.host}/ann/tools.git 2>&1")

    assert "answered 401" in done["output"], done
    assert "another-token" not in done["output"]


async def test_a_repository_under_a_new_name_is_followed_and_another_host_is_not(place):
    await place.bring()
    moved = f"{place.forge.url}/ann/tools.git/info/refs?service=git-upload-pack"
    place.forge.answers["/ann/former.git/info/refs"] = Raw(b"", 301, {"location": moved})
    stolen = "http://127.0.0.1:1/ann/tools.git/info/refs?service=git-upload-pack"
    place.forge.answers["/ann/stolen.git/info/refs"] = Raw(b"", 301, {"location": stolen})

    host = place.forge.host
    former = await place.does(f"git ls-remote https://{host}/ann/former.git 2>&1")
    elsewhere = await place.does(f"git ls-remote https://{host}/ann/stolen.git 2>&1")

    assert "refs/heads/main" in former["output"], former
    assert "redirects elsewhere" in elsewhere["output"], elsewhere


async def test_what_is_not_gits_is_not_passed_on(place):
    await place.bring()
    place.forge.answers["/ann/page.git/info/refs"] = Raw(b"<html>secret</html>")

    host = place.forge.host
    done = await place.does(f"git ls-remote https://{host}/ann/page.git 2>&1")

    assert "nothing of git" in done["output"], done
    assert "secret" not in done["output"]


ASKS = (
    "python3 - <<'X'\n"
    "import socket\n"
    "s = socket.socket(socket.AF_UNIX); s.connect('/run/promptcorner/git.sock')\n"
    "s.sendall({sent!r}); print(s.makefile('rb').read().decode(errors='replace'))\n"
    "X"
)


TARGETS = (
    "/{host}/api/v3/user",
    "/{host}/ann/tools.git/HEAD",
    "/{host}/ann/tools.git/info/refs",
    "/{host}/ann/tools.git/info/refs?service=git-evil",
    "/{host}/ann/../../tools.git/info/refs?service=git-upload-pack",
    "/{host}/ann/%2e%2e/tools/info/refs?service=git-upload-pack",
    "/elsewhere.test/ann/tools.git/info/refs?service=git-upload-pack",
    "http://{host}/ann/tools.git/info/refs?service=git-upload-pack",
)


async def test_only_gits_own_requests_pass_the_socket(place):
    await place.bring()
    for target in TARGETS:
        asked = target.format(host=place.forge.host)
        sent = f"w\nGET {asked} HTTP/1.1\r\nhost: x\r\nx-promptcorner-gate: w\r\n\r\n".encode()

        done = await place.does(ASKS.format(sent=sent))

        assert "403" in done["output"], (target, done)
    assert [] == place.forge.asked


async def test_files_of_lfs_do_not_pass_and_git_says_why(place):
    await place.bring()

    agent = "git config lfs.customtransfer.promptcorner.path"
    done = await place.does(f'echo \'{{"event":"init"}}\' | $({agent})')
    base = f"lfs.promptcorner::https://{place.forge.host}/"
    named = await place.does(f"git config {base}.standalonetransferagent")

    error = json.loads(done["output"])["error"]
    assert error["message"].startswith("promptcorner: files of Git LFS do not pass here")
    assert "promptcorner" == named["output"].strip()
    assert [] == place.forge.asked


@pytest.mark.skipif(not shutil.which("git-lfs"), reason=NO_LFS)
async def test_git_lfs_itself_shows_the_reason(place):
    await place.bring()
    await place.clones()

    pushed = await place.does(
        "cd tools && git lfs install --local >/dev/null && git lfs track '*.bin' && echo 1 > a.bin"
        " && git add -A && git commit -q -m large && git push origin topic/1 2>&1"
    )
    without = await place.does("cd tools && GIT_LFS_SKIP_PUSH=1 git push origin topic/1 2>&1")

    assert "files of Git LFS do not pass here" in pushed["output"], pushed
    assert without["success"], without


async def test_a_request_without_the_word_of_its_connection_is_refused(place):
    """As of somebody on the machine who connects to the port of git's helper."""
    await place.bring()
    target = f"/{place.forge.host}/ann/tools.git/info/refs?service=git-upload-pack"
    sent = f"w\nGET {target} HTTP/1.1\r\nhost: x\r\nx-promptcorner-gate: v\r\n\r\n".encode()

    done = await place.does(ASKS.format(sent=sent))

    assert "not the git of this workspace" in done["output"], done
    assert [] == place.forge.asked


async def test_what_makes_no_sense_ends_its_connection_and_no_other(place):
    await place.bring()
    for sent in (b"", b"\n", b"w\n\0\0\0\r\n\r\n", b"x" * 100_000):
        await place.does(ASKS.format(sent=sent + b"\r\n\r\n"))

    done = await place.does(f"git ls-remote https://{place.forge.host}/ann/tools 2>&1")
    assert "refs/heads/main" in done["output"], done


async def test_a_large_push_passes(place):
    await place.bring()
    await place.clones()
    makes = "head -c 3000000 /dev/urandom > big && git add big && git commit -q -m big"

    done = await place.does(f"cd tools && {makes} && git push origin topic/1 2>&1")

    assert done["success"], done
    assert "refs/heads/topic/1" in place.pushed()


async def test_a_workspace_that_is_closed_has_no_gate_any_more(place, tmp_path):
    await place.bring()
    await place.does("true")
    [workspace] = place.gates._open

    place.bus.tell(WorkspaceClosed(workspace))

    with trio.fail_after(PATIENCE_SECONDS):
        while list((tmp_path / "gates").glob("*/*/git.sock")):
            await trio.sleep(0.01)
    assert 0 == place.gates.statistics().open


async def test_a_gate_that_is_closed_before_it_serves_leaves_nothing(place, tmp_path):
    await place.bring()
    workspace = uuid4()
    assert await place.gates.of(workspace, ANN) is not None

    place.gates.hear(WorkspaceClosed(workspace))  # before its task has run

    with trio.fail_after(PATIENCE_SECONDS):
        while list((tmp_path / "gates").glob("*/*/git.sock")):
            await trio.sleep(0.01)
    assert 0 == place.gates.statistics().open


async def test_a_gate_that_cannot_be_begun_is_none_and_leaves_nothing(place, tmp_path):
    await place.bring()
    await place.gates._children.stop(GateClosed())

    assert await place.gates.of(uuid4(), ANN) is None

    assert 0 == place.gates.statistics().open
    assert [] == list((tmp_path / "gates").glob("*/*/git.sock"))


def test_what_a_process_that_was_killed_has_left_is_removed(tmp_path):
    from adapters.chats.changes.git_gate import gates

    top = tmp_path / "gates"
    held = gates._claimed(top, top / "alive")
    (top / "dead").mkdir()
    (top / "dead" / "lock").touch()

    gates._claimed(top, top / "new")

    assert {"alive", "new"} == {each.name for each in top.iterdir()}
    assert held > 0


def test_processes_that_begin_at_once_keep_their_directories(tmp_path, restless):
    from adapters.chats.changes.git_gate import gates

    for number in range(20):
        top, together = tmp_path / f"gates-{number}", Barrier(8)
        names = [f"process-{at}" for at in range(8)]

        def begin(name, top=top, together=together):
            together.wait(PATIENCE_SECONDS)
            return gates._claimed(top, top / name)

        with ThreadPoolExecutor(len(names)) as pool:
            held = list(pool.map(begin, names))

        assert names == sorted(each.name for each in top.iterdir())
        for lock in held:
            os.close(lock)


@pytest.fixture
def restless():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


REQUESTS = {
    ("GET", "/h/a/b.git/info/refs?service=git-receive-pack"): ("h", "a/b", ".git"),
    ("GET", "/h:81/a/b/c/info/refs?service=git-upload-pack"): ("h:81", "a/b/c", ""),
    ("POST", "/h/a/b/git-receive-pack"): ("h", "a/b", ""),
    ("POST", "/h/a/b/git-upload-pack"): ("h", "a/b", ""),
    ("GET", "/h/a/b\xe9/info/refs?service=git-upload-pack"): None,
    ("GET", "/h/a/b/git-upload-pack"): None,
    ("POST", "/h/a/b/info/refs?service=git-upload-pack"): None,
    ("DELETE", "/h/a/b/git-receive-pack"): None,
    ("POST", "/h/a/b/git-receive-pack?x=y"): None,
    ("POST", "/h/b/git-receive-pack"): None,
    ("POST", "/h/a/b.git/info/lfs/objects/batch"): None,
    ("POST", "//a/b/git-receive-pack"): None,
    ("POST", "/h/a//b/git-receive-pack"): None,
    ("POST", "/h/a/b;x/git-receive-pack"): None,
}


@pytest.mark.parametrize("asked", REQUESTS, ids=" ".join)
def test_the_requests_of_git(asked):
    found = git_request(*asked)

    assert REQUESTS[asked] == (found and (found.host, found.path, found.suffix))


def test_the_branches_of_a_push():
    old, new, none = "1" * 40, "2" * 40, "0" * 40
    lines = [
        f"{old} {none} refs/heads/gone\0 report-status",
        f"{none} {new} refs/tags/v1",
        f"{none} {new} refs/heads/topic/1\n",
    ]
    body = "".join(f"{len(line) + 4:04x}{line}" for line in lines).encode() + b"0000PACK"

    assert ["topic/1"] == list(pushed_branches(body))
    assert [] == list(pushed_branches(b"zzzz" + body))
    assert [] == list(pushed_branches(b"0000"))


def test_a_redirect_leads_nowhere_but_to_the_same_forge():
    [forge] = Forges().read("gitlab=https://h.test/lab")
    asked = git_request("GET", "/h.test/a/b.git/info/refs?service=git-upload-pack")
    rest = "info/refs?service=git-upload-pack"

    assert f"/h.test/c/d.git/{rest}" == redirected(
        forge, asked, f"https://h.test/lab/c/d.git/{rest}"
    )
    for there in (
        f"https://h.test.evil/lab/c/d.git/{rest}",
        f"http://h.test/lab/c/d.git/{rest}",
        f"https://h.test/other/c/d.git/{rest}",
        "https://h.test/lab/users/sign_in",
        "",
    ):
        assert redirected(forge, asked, there) is None
