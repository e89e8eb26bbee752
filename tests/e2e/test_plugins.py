"""Plugins in real daemons: the examples, installed as a user does it, and one with every fault."""

import json
import subprocess
import sys
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
import trio

from tests.e2e.daemons import a_daemon, environment, run
from tests.e2e.processes import EVENTUALLY_SECONDS, ROOT
from tests.e2e.providers import a_provider

pytestmark = pytest.mark.slow

TOKEN = "a-token-of-the-first-admin-for-these-tests"
HEADER = "Coder-Session-Token"
CHATS = "/api/experimental/chats"
EXAMPLES = ("weather", "proxy_login")
NAMES = "promptcorner-example-weather, promptcorner-example-proxy-login"
FAULTY = """
import time
import trio
from promptcorner import ext

PROMPTCORNER_API = 1

@ext.tool(seconds=0.5)
async def hang() -> None:
    "Wait for ever."
    await trio.sleep_forever()

@ext.tool(seconds=0.5)
async def swallow() -> None:
    "Ignore its end."
    while True:
        try:
            await trio.sleep(0.05)
        except BaseException:
            pass

@ext.tool(seconds=30)
async def block() -> str:
    "Block its event loop."
    time.sleep(2.5)
    return "unblocked"

@ext.tool
async def crash() -> None:
    "Fail."
    raise KeyError("a secret of the plugin")

@ext.tool
async def leave() -> None:
    "Leave."
    raise SystemExit

@ext.tool
async def flood() -> str:
    "Say too much."
    return "x" * 5_000_000

@ext.tool
async def strew() -> str:
    "Leave a task behind."
    trio.lowlevel.spawn_system_task(trio.sleep_forever)
    return "strewn"

tools = [hang, swallow, block, crash, leave, flood, strew]
"""


@pytest.fixture(scope="module")
def site():
    """A directory with the examples as pip installs them, and two plugins that are at fault."""
    with tempfile.TemporaryDirectory(prefix="promptcorner-plugins-") as top:
        sources = [str(ROOT / "examples" / name) for name in EXAMPLES]
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", top]
        done = subprocess.run([*pip, *sources], capture_output=True, text=True, check=False)
        assert 0 == done.returncode, done.stderr
        place(Path(top), "faulty", FAULTY)
        place(Path(top), "broken", "import a_module_that_is_not_there")
        yield top


def place(top, name, code):
    (top / f"{name}_plugin.py").write_text(code)
    info = top / f"{name}-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    points = f"[promptcorner.tools]\nall = {name}_plugin:tools\n"
    (info / "entry_points.txt").write_text(points)


@pytest.fixture
def settings(site, database):
    return {
        "PROMPTCORNER_ADMIN_TOKEN": TOKEN,
        "PROMPTCORNER_SANDBOX": "none",
        "PROMPTCORNER_PLUGINS": NAMES,
        "PROMPTCORNER_TRUSTED_PROXIES": "127.0.0.1",
        "DATABASE_URL": database,
        "PYTHONPATH": f"{ROOT}:{site}",
    }


@asynccontextmanager
async def api_of(daemon, **headers):
    url = "http://" + daemon.wait_ready()["listen"]
    headers = headers or {HEADER: TOKEN}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=60) as client:
        yield client


async def begin(client, text):
    [organization, *_] = (await client.get("/api/v2/organizations")).json()
    content = [{"type": "text", "text": text}]
    new = {"organization_id": organization["id"], "content": content}
    answer = await client.post(CHATS, json=new)
    assert 201 == answer.status_code, answer.text
    return answer.json()["id"]


async def until(client, chat, *statuses):
    with trio.fail_after(EVENTUALLY_SECONDS):
        while (found := (await client.get(f"{CHATS}/{chat}")).json())["status"] not in statuses:
            await trio.sleep(0.02)
    assert found.get("last_error") is None, found
    return found


async def said(client, chat):
    return json.dumps((await client.get(f"{CHATS}/{chat}/messages")).json()["messages"])


async def test_the_provider_of_a_plugin_calls_the_tool_of_a_plugin(home, settings):
    with a_daemon(home, **settings) as daemon:
        async with api_of(daemon) as client:
            chat = await begin(client, "Tell me the weather in Oslo.")
            await until(client, chat, "waiting")
            found = await said(client, chat)
            models = (await client.get(f"{CHATS}/model-configs")).json()
        loaded = [entry for entry in daemon.entries if entry["event"] == "plugin.loaded"]
        ready = daemon.entry("daemon.ready")
        stopped = daemon.stop()

    assert '"weather"' in found
    assert "snow" in found
    assert ["grey"] == [model["model"] for model in models]
    assert 8_000 == models[0]["context_limit"]
    assert ["parrot/grey"] == ready["models"]
    assert {
        "promptcorner-example-weather": "tools weather, report_weather; models parrot/grey",
        "promptcorner-example-proxy-login": "an identity source",
    } == {entry["plugin"]: entry["brings"] for entry in loaded}
    assert 0 == stopped


async def test_a_tool_that_always_asks_asks_a_person(home, settings):
    with a_daemon(home, **settings) as daemon:
        async with api_of(daemon) as client:
            chat = await begin(client, "Say that Cork has sun now")
            await until(client, chat, "requires_action")
            before = await said(client, chat)
            [asked] = (await client.get(f"{CHATS}/{chat}/approvals")).json()["approvals"]
            path = f"{CHATS}/{chat}/approvals/{asked['tool_call_id']}"
            decided = await client.post(path, json={"decision": "allow_once"})
            await until(client, chat, "waiting")
            after = await said(client, chat)

    assert ("report_weather", 200) == (asked["tool_name"], decided.status_code)
    assert "Cork has sun from now on" not in before
    assert "Cork has sun from now on" in after


async def test_a_proxy_says_who_asks_and_scopes_hold(home, settings):
    with a_daemon(home, **settings) as daemon:
        async with api_of(daemon, **{"X-Forwarded-User": "admin"}) as client:
            me = await client.get("/api/v2/users/me")
            chat = await begin(client, "hello")
            await until(client, chat, "waiting")
            providers = await client.get("/api/v2/ai/providers")
            foreign = await client.get("/api/v2/users/me", headers={"Origin": "https://evil.test"})
        async with api_of(daemon, **{"X-Forwarded-User": "nobody"}) as client:
            nobody = await client.get("/api/v2/users/me")
        async with api_of(daemon, **{"X-Other": "admin"}) as client:
            nothing = await client.get("/api/v2/users/me")
        daemon.stop()
    with a_daemon(home, **settings | {"PROMPTCORNER_TRUSTED_PROXIES": "none"}) as daemon:
        async with api_of(daemon, **{"X-Forwarded-User": "admin"}) as client:
            untrusted = await client.get("/api/v2/users/me")

    assert (200, "admin") == (me.status_code, me.json()["username"])
    assert (403, 403) == (providers.status_code, foreign.status_code)
    assert (401, 401, 401) == tuple(answer.status_code for answer in (nobody, nothing, untrusted))


FAULTS = {
    "hang": "the tool did not finish within 0.5 s",
    "swallow": "the tool did not finish within 0.5 s",
    "crash": "the tool failed unexpectedly",
    "leave": "the plugin of this tool failed: its code raised SystemExit",
    "flood": "its result has 5000013 bytes, it can have 4194304",
    "strew": "strewn",
    "block": "unblocked",
}


async def test_a_plugin_at_fault_harms_nothing_but_its_own_calls(home, settings):
    with a_provider() as provider:
        plugins = {"PROMPTCORNER_PLUGINS": "broken, faulty, nowhere"}
        with a_daemon(home, **settings | provider.settings | plugins) as daemon:
            async with api_of(daemon) as client:
                for tool, words in FAULTS.items():
                    chat = await begin(client, f"[[tool-calls: {tool}:{{}}]] [[text: done]] go")
                    await until(client, chat, "waiting")
                    assert words in await said(client, chat), tool
                    assert daemon.is_ready()
                metrics = (await client.get("/metrics")).text
                report = (await client.get("/debug/actors")).json()["plugin"]
                code, listed, _ = run(
                    "doctor",
                    "--json",
                    "--listen",
                    daemon.wait_ready()["listen"],
                    "--data-dir",
                    home,
                    **settings | provider.settings | plugins,
                )
            events = {entry["event"] for entry in daemon.entries}
            blocked = daemon.entry("plugin.blocked")
            failed = {
                entry["plugin"]: entry["why"]
                for entry in daemon.entries
                if entry["event"] == "plugin.failed"
            }
            stopped = daemon.stop()

    assert {"broken": "not loaded", "faulty": "running", "nowhere": "not loaded"} == {
        name: found["state"] for name, found in report.items()
    }
    assert {"broken", "nowhere"} == set(failed)
    assert "No module named 'a_module_that_is_not_there'" in failed["broken"]
    assert {"plugin.lingers", "plugin.call_failed", "plugin.unblocked", "plugin.leaks"} <= events
    assert "faulty" == blocked["plugin"]
    assert blocked["at"].startswith("in block (")
    assert 'promptcorner_plugin_blocked_total{plugin="faulty"} 1.0' in metrics
    assert 'promptcorner_plugin_lingering{plugin="faulty"} 1.0' in metrics
    assert 'promptcorner_plugin_running{plugin="broken"} 0.0' in metrics
    found = [each for each in json.loads(listed) if each["subject"] == "plugin"]
    facts = " | ".join(f"{each['state']} {each['fact']}" for each in found)
    assert "wrong broken 0.1 cannot be loaded: could not be imported" in facts
    assert "wrong nowhere cannot be loaded: is not installed" in facts
    assert "ok faulty 0.1 can be loaded: tools hang" in facts
    assert "warn faulty 0.1 runs in the daemon, but blocked its event loop 1 times" in facts
    assert "promptcorner-example-weather 1.0.0 is installed; without its name" in facts
    assert (1, 0) == (code, stopped)


def test_the_examples_pass_their_own_tests(site):
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "examples"]

    done = subprocess.run(
        words,
        cwd=ROOT,
        env=environment(PYTHONPATH=f"{ROOT}:{site}"),
        capture_output=True,
        text=True,
        check=False,
    )

    assert "4 passed" in done.stdout, done.stdout
