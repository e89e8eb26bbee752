"""Diffs and tokens over the API of a whole daemon, and what its watchers are told."""

import json

import pytest
import trio

from adapters.chats.routes.pull_requests import DIFFS_PER_MINUTE
from tests.adapters.edges import an_edge
from tests.adapters.requests_of import CHATS
from tests.fakes.forge import DIFF, TOKEN, Raw, a_forge
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

TOKENS = "/api/v2/users/me/forge-tokens"


@pytest.fixture(params=["github", "gitlab"])
async def kind(request):
    return request.param


@pytest.fixture
async def forge(tmp_path):
    async with a_forge(tmp_path) as forge:
        forge.add("ann/tools")
        yield forge


@pytest.fixture
async def edge(fresh, forge, kind):
    forges = f"{kind}={forge.url}"
    async with an_edge(fresh, forges=forges, private_networks="127.0.0.0/8") as edge:
        yield edge


async def a_chat(edge):
    part = {"type": "text", "text": "hello"}
    new = {"organization_id": edge.organization, "content": [part]}
    return (await edge.member.post(CHATS, new)).document["id"]


async def works_on(edge, forge, chat, branch="work"):
    await edge.execute(
        "INSERT INTO diff_statuses (chat_id, remote_origin, branch, host, path, stale_at)"
        " VALUES (%(chat)s, %(origin)s, %(branch)s, %(host)s, 'ann/tools', now())",
        {
            "chat": chat,
            "origin": f"{forge.url}/ann/tools.git",
            "branch": branch,
            "host": forge.host,
        },
    )


def whose_token(kind):
    return {"github": "/api/v3/user", "gitlab": "/api/v4/user"}[kind]


async def bring(edge, forge, token=TOKEN):
    answer = await edge.member.put(f"{TOKENS}/{forge.host}", {"token": token})
    assert 200 == answer.status, answer.body
    return answer.document


async def test_the_changes_of_a_chat_without_a_branch_are_its_id_and_nothing_else(edge):
    chat = await a_chat(edge)

    answer = await edge.member.get(f"{CHATS}/{chat}/diff")

    assert (200, {"chat_id": chat}) == (answer.status, answer.document)


async def test_a_watcher_hears_of_a_pull_request_and_reads_its_diff(edge, forge, kind):
    chat = await a_chat(edge)
    before = (await edge.member.get(f"{CHATS}/{chat}")).document
    await bring(edge, forge)
    pull = forge.add_pull("ann/tools", "work", title="Better")
    async with edge.member.socket(f"{CHATS}/watch") as socket:
        await works_on(edge, forge, chat)
        await edge.chats.forges.refresher.tick()
        with trio.fail_after(PATIENCE_SECONDS):
            while (told := json.loads(await socket.get_message()))["kind"] != "diff_status_change":
                pass  # the chat is at work, too
    answer = await edge.member.get(f"{CHATS}/{chat}/diff")

    status = told["chat"]["diff_status"]
    assert "diff_status" not in before
    assert (chat, "Better", "open", pull["number"]) == (
        status["chat_id"],
        status["pull_request_title"],
        status["pull_request_state"],
        status["pr_number"],
    )
    assert {
        "chat_id": chat,
        "provider": kind,
        "remote_origin": f"{forge.url}/ann/tools.git",
        "branch": "work",
        "pull_request_url": status["url"],
        "diff": DIFF,
    } == answer.document


async def test_a_branch_without_a_pull_request_is_compared_with_the_main_one(edge, forge):
    chat = await a_chat(edge)
    await bring(edge, forge)
    await works_on(edge, forge, chat, branch="a/b c".replace(" ", "-"))

    answer = await edge.member.get(f"{CHATS}/{chat}/diff")

    assert (DIFF, "a/b-c") == (answer.document["diff"], answer.document["branch"])
    assert "pull_request_url" not in answer.document


async def test_without_a_token_only_what_is_known_of_the_branch_is_told(edge, forge):
    chat = await a_chat(edge)
    await works_on(edge, forge, chat)

    answer = await edge.member.get(f"{CHATS}/{chat}/diff")

    assert {"chat_id", "provider", "remote_origin", "branch"} == set(answer.document)
    assert [] == forge.asked


async def test_a_forge_that_has_no_answer_is_told_as_such_without_the_token(edge, forge, kind):
    chat = await a_chat(edge)
    await bring(edge, forge)
    await works_on(edge, forge, chat)
    about = "/repos/ann/tools" if kind == "github" else "/projects/ann/tools"
    forge.answers[about] = Raw(b"", 429, {"retry-after": "77"})

    limited = await edge.member.get(f"{CHATS}/{chat}/diff")
    asked = len(forge.asked)
    again = await edge.member.get(f"{CHATS}/{chat}/diff")

    assert (500, "77") == (limited.status, limited.headers["retry-after"])
    assert (500, asked) == (again.status, len(forge.asked))
    assert TOKEN not in limited.body.decode() + again.body.decode()
    [shown] = (await edge.member.get(TOKENS)).document
    assert "delayed_until" in shown


# tokens


async def test_a_token_is_kept_sealed_and_never_shown(edge, forge, kind):
    before = (await edge.member.get(TOKENS)).document

    put = await bring(edge, forge)

    [(sealed,)] = await edge.execute("SELECT sealed FROM forge_tokens")
    after = (await edge.member.get(TOKENS)).document
    assert [{"host": forge.host, "kind": kind, "url": forge.url, "has_token": False}] == before
    assert [put] == after
    assert put["has_token"]
    assert TOKEN not in json.dumps(after)
    assert TOKEN.encode() not in bytes(sealed)
    assert not (await edge.stranger.get(TOKENS)).document[0]["has_token"]


async def test_a_token_that_is_taken_back_is_used_no_more(edge, forge, kind):
    chat = await a_chat(edge)
    await bring(edge, forge)
    await works_on(edge, forge, chat)

    gone = await edge.member.delete(f"{TOKENS}/{forge.host}")
    await edge.chats.forges.refresher.tick()

    assert 204 == gone.status
    assert [whose_token(kind)] == forge.paths()  # asked when the token was brought, and never again
    assert not (await edge.member.get(TOKENS)).document[0]["has_token"]


async def test_a_token_that_the_forge_refuses_is_told_as_such_at_once(edge, forge):
    put = await bring(edge, forge, "of-somebody-else")
    [listed] = (await edge.member.get(TOKENS)).document
    again = await bring(edge, forge)

    assert put == listed
    assert f"{forge.host} does not take the token; bring a new one" == put["failure"]
    assert "failure" not in again


async def test_a_forge_that_is_asked_too_often_says_so_to_one_who_brings_a_token(edge, forge):
    forge.answers["/user"] = Raw(b"", 429, {"retry-after": "77"})

    put = await bring(edge, forge)

    assert "delayed_until" in put
    assert "failure" not in put


@pytest.mark.parametrize("answer", [Raw(b"", 403), Raw(b"", 500), Raw(b"", 302), Raw(b"no json")])
async def test_an_answer_that_says_nothing_of_the_token_is_no_refusal(edge, forge, answer):
    forge.answers["/user"] = answer

    put = await bring(edge, forge)

    assert not {"failure", "delayed_until"} & set(put)


async def test_diffs_are_asked_for_only_so_often(edge):
    chat = await a_chat(edge)
    answers = [await edge.member.get(f"{CHATS}/{chat}/diff") for _ in range(DIFFS_PER_MINUTE + 1)]

    assert [200] * DIFFS_PER_MINUTE == [each.status for each in answers[:-1]]
    assert 429 == answers[-1].status
    assert f"{DIFFS_PER_MINUTE} a minute" in answers[-1].document["detail"]
    assert 0 < int(answers[-1].headers["retry-after"]) <= 60


@pytest.mark.parametrize("token", ["", " x", "a\nb", "x" * 10_241, None])
async def test_what_is_no_token_is_refused_and_not_repeated(edge, forge, token):
    answer = await edge.member.put(f"{TOKENS}/{forge.host}", {"token": token})

    assert (400, "token") == (answer.status, answer.document["validations"][0]["field"])
    assert not token or token.strip() not in answer.body.decode()


async def test_a_forge_that_is_not_set_up_takes_no_token(edge, forge):
    answer = await edge.member.put(f"{TOKENS}/elsewhere.test", {"token": TOKEN})

    assert 404 == answer.status


async def test_a_forge_in_a_private_network_is_asked_only_if_that_is_allowed(fresh, forge):
    async with an_edge(fresh, forges=f"github={forge.url}") as edge:
        chat = await a_chat(edge)
        await bring(edge, forge)
        await works_on(edge, forge, chat)

        answer = await edge.member.get(f"{CHATS}/{chat}/diff")

    assert (500, []) == (answer.status, forge.asked)
    assert "private network" in answer.document["detail"]
