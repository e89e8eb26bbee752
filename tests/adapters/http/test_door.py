"""The door: in which order it asks, what it answers itself, what it tells whom."""

import json
import logging
from errno import EDQUOT, ENOSPC
from ipaddress import ip_network
from uuid import uuid4

import pytest

from actors.law.ids import UserId
from adapters.http.door import Door
from adapters.http.endpoints import (
    Access,
    Caller,
    Endpoint,
    HttpResponse,
    TokenSource,
    Upgrade,
    json_response,
    no_content,
)
from adapters.http.refusals import HttpError, forbidden
from adapters.http.requests import PARAMETERS_MAX, ClientConnection, HttpRequest
from adapters.postgres.driver.faults import DatabaseFull, DatabaseGone, PoolExhausted

ANN = Caller(UserId(uuid4()), "ann", False, frozenset({"all"}), "t", TokenSource.HEADER)
ADMIN = Caller(UserId(uuid4()), "root", True, frozenset({"all"}), "t", TokenSource.HEADER)
PROBLEM = {"accept": "text/html, application/problem+json"}


class Callers:
    """Everybody who says so is somebody."""

    def __init__(self):
        self.away = False

    async def let_in(self, head, row):
        if self.away:
            raise DatabaseGone("database: gone")
        who = {"ann": ANN, "admin": ADMIN}.get(head.headers.get("who"))
        if who is None and row.access is not Access.OPEN:
            raise HttpError(401, "Who?", headers=(("www-authenticate", "Bearer"),))
        if row.access is Access.ADMIN and not who.is_admin:
            raise forbidden()
        return HttpResponse(400, b"forged") if head.headers.get("forged") else who


def asking(method="GET", path="/row", *, query="", body=b"", who="ann", **headers):
    async def read(bytes_max):
        if len(body) > bytes_max:
            raise HttpError(413, "too large")
        return body

    shown = {"who": who, "host": "here:1", **headers}
    return HttpRequest(method, path, query, shown, ClientConnection("10.0.0.1"), read)


async def nothing(call):
    return no_content()


def row(handle=nothing, **how):
    return Endpoint(
        **{"method": "GET", "path": "/row", "summary": "", "tag": "t", "handle": handle, **how}
    )


PROXY = frozenset({ip_network("10.0.0.1")})  # where everybody here asks from


def a_door(*rows, **how):
    return Door(rows, Callers(), **how)


def document(answer):
    return json.loads(answer.body)


async def test_a_handler_gets_what_was_asked():
    async def told(call):
        return json_response(
            200,
            {
                "who": call.user.username,
                "path": dict(call.path),
                "query": call.query,
                "body": call.body.decode(),
                "origin": call.origin,
            },
        )

    door = a_door(row(told, method="POST", path="/a/{b}"))

    answer = await door.answer(asking("POST", "//a/%7Bb%7D/", query="x=1&x=2&y", body=b"hi"))

    assert {
        "who": "ann",
        "path": {"b": "{b}"},
        "query": [["x", "1"], ["x", "2"], ["y", ""]],
        "body": "hi",
        "origin": "http://here:1",
    } == document(answer)


async def test_links_lead_to_where_the_deployment_says_it_is():
    async def told(call):
        return json_response(200, call.origin)

    door = a_door(row(told), origin="https://chats.example.org")

    assert "https://chats.example.org" == document(await door.answer(asking()))


@pytest.mark.parametrize(
    ("status", "how"),
    [
        (404, {"path": "/nothing"}),
        (404, {"path": "/row/more"}),
        (405, {"method": "DELETE"}),
        (401, {"who": ""}),
        (403, {"path": "/admin"}),
        (413, {"body": b"12345"}),
        (400, {"query": "a=%00"}),
        (400, {"query": "&".join(["a=1"] * (PARAMETERS_MAX + 1))}),
    ],
)
async def test_what_does_not_get_in_is_told_why(status, how):
    door = a_door(row(body_bytes_max=4), row(path="/admin", access=Access.ADMIN))

    answer = await door.answer(asking(**how))

    assert status == answer.status
    assert document(answer)["message"]


async def test_a_zero_byte_in_the_path_is_nothing_that_is_there():
    answer = await a_door(row(path="/row/{name}")).answer(asking(path="/row/a%00b"))

    assert 404 == answer.status


async def test_a_wrong_method_is_told_the_right_ones():
    answer = await a_door(row(), row(method="PUT")).answer(asking("PATCH"))

    assert (("allow", "GET, HEAD, PUT"),) == answer.headers


async def test_who_is_refused_is_not_read():
    """A body is asked for only of those who may send one."""

    async def read(bytes_max):
        raise AssertionError("nobody reads this")

    request = HttpRequest("GET", "/row", "", {}, ClientConnection(), read)

    assert 401 == (await a_door(row()).answer(request)).status


async def test_what_callers_answer_is_the_answer():
    answer = await a_door(row()).answer(asking(forged="yes"))

    assert (400, b"forged") == (answer.status, answer.body)


async def test_a_problem_is_told_as_one_to_who_accepts_it():
    async def refuse(call):
        raise HttpError(409, "no", detail="because", kind="generic")

    door = a_door(row(refuse))

    plain, problem = await door.answer(asking()), await door.answer(asking(**PROBLEM))

    assert {"message": "no", "detail": "because", "kind": "generic"} == document(plain)
    assert "application/problem+json" == problem.media_type
    assert {"title": "no", "status": 409, "detail": "because", "kind": "generic"} == document(
        problem
    )


async def test_a_browser_gets_a_refusal_as_a_page_that_tries_again_after_a_while():
    async def refuse(call):
        raise HttpError(503, "no <b>", headers=(("retry-after", "2"),))

    page = await a_door(row(refuse)).answer(asking(accept="text/html,*/*;q=0.8"))

    assert (503, "text/html; charset=utf-8") == (page.status, page.media_type)
    assert b"<h1>no &lt;b&gt;</h1>" in page.body
    assert b'content="2"' in page.body


async def test_a_crash_is_told_by_a_number_that_is_in_the_log(caplog):
    async def crash(call):
        raise RuntimeError("the secret is hunter2")

    answer = await a_door(row(crash)).answer(asking())

    [entry] = [r for r in caplog.records if r.message == "request.crashed"]
    assert 500 == answer.status
    assert b"hunter2" not in answer.body
    assert entry.fields["id"] in document(answer)["detail"]


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [(DatabaseGone("database: gone"), "1"), (PoolExhausted("pool: none in 60 s"), "10")],
    ids=["away", "crowded"],
)
async def test_a_database_that_does_not_answer_is_a_reason_to_ask_again(fault, seconds):
    async def look(call):
        raise fault

    answer = await a_door(row(look)).answer(asking())

    assert (503, (("retry-after", seconds),)) == (answer.status, answer.headers)


@pytest.mark.parametrize(
    "error",
    [DatabaseFull("database: no space"), OSError(ENOSPC, "no space"), OSError(EDQUOT, "quota")],
    ids=["database", "disk", "quota"],
)
async def test_a_full_disk_is_a_reason_to_ask_again_and_nothing_was_stored(error):
    async def store(call):
        raise error

    answer = await a_door(row(store)).answer(asking())

    assert (503, (("retry-after", "1"),)) == (answer.status, answer.headers)
    assert "This cannot be stored now." == document(answer)["message"]


async def test_what_is_open_stays_open_without_a_database():
    callers = Callers()
    door = Door([row(access=Access.OPEN), row(path="/own")], callers)
    callers.away = True

    assert 204 == (await door.answer(asking())).status
    assert 503 == (await door.answer(asking(path="/own"))).status


async def test_who_asks_too_often_waits_and_others_do_not(autojump_clock):
    door = a_door(row(rate_per_minute=2), row(path="/other", rate_per_minute=2))

    statuses = [(await door.answer(asking())).status for _ in range(3)]
    refused = await door.answer(asking())

    assert [204, 204, 429] == statuses
    assert (("retry-after", "60"),) == refused.headers
    assert 204 == (await door.answer(asking(path="/other"))).status
    assert 204 == (await door.answer(asking(who="admin"))).status


async def test_behind_a_proxy_of_ours_each_asker_is_told_apart():
    heard = []

    async def note(call):
        heard.append(call.address)
        return no_content()

    door = a_door(row(note, access=Access.OPEN, rate_per_minute=1), trusted=PROXY)
    askers = ("192.0.2.1", "192.0.2.2", "192.0.2.1")

    answers = [
        await door.answer(asking(who="nobody", **{"x-forwarded-for": one})) for one in askers
    ]

    assert [204, 204, 429] == [answer.status for answer in answers]
    assert [*askers[:2]] == heard


async def test_an_admin_may_ask_not_to_be_counted_and_others_may_not():
    door = a_door(row(rate_per_minute=1))
    bypass = {"x-coder-bypass-ratelimit": "true"}

    admin = [(await door.answer(asking(who="admin", **bypass))).status for _ in range(3)]
    member = [(await door.answer(asking(**bypass))).status for _ in range(2)]

    assert [204, 204, 204] == admin
    assert [204, 429] == member


async def test_an_upgrade_goes_through():
    async def serve(socket):
        raise AssertionError("not here")

    async def upgrade(call):
        return Upgrade(serve)

    door = a_door(row(upgrade, is_socket=True))

    assert Upgrade(serve) == await door.answer(asking())
    assert {("GET", "/row", 101)} == set(door.durations)


async def test_the_log_has_the_row_and_no_secret(caplog):
    caplog.set_level(logging.DEBUG)
    door = a_door(row(path="/files/{file}"))

    await door.answer(asking(path="/files/secret", query="token=secret"))
    await door.answer(asking(path="/nowhere" + "x" * 1000))

    good, bad = [r for r in caplog.records if r.message == "request.answered"]
    assert ("/files/{file}", 204, "ann", "DEBUG") == (
        good.fields["path"],
        good.fields["status"],
        good.fields["user"],
        good.levelname,
    )
    assert "secret" not in str(good.fields)
    assert (404, "INFO", 200) == (bad.fields["status"], bad.levelname, len(bad.fields["path"]))


async def test_what_came_out_is_counted_by_row_and_never_by_what_clients_make_up():
    door = a_door(row())

    for number in range(20):
        await door.answer(asking(f"M{number}", f"/{number}"))
    await door.answer(asking())

    assert {("(unknown)", "(unknown)", 404): 20, ("GET", "/row", 204): 1} == {
        key: durations.statistics().count for key, durations in door.durations.items()
    }
    assert (21, 20, 0) == (
        door.statistics().answered_count,
        door.statistics().refused_count,
        door.statistics().failed_count,
    )


@pytest.mark.parametrize(
    ("who", "path", "status"),
    [
        ("admin", "/row", 204),
        ("admin", "/open", 204),
        ("ann", "/row", 503),
        ("ann", "/open", 503),
        ("", "/row", 503),
        ("", "/open", 503),
        ("", "/probe", 204),
        ("ann", "/probe", 204),
        ("", "/nothing", 404),
    ],
)
async def test_on_a_connection_without_a_place_only_an_admin_is_served(who, path, status):
    door = a_door(
        row(),
        row(path="/open", access=Access.OPEN),
        row(path="/probe", access=Access.OPEN, served_when_full=True),
    )
    request = asking(path=path, who=who)
    request.client.is_beside = True

    answer = await door.answer(request)

    assert status == answer.status
    if status == 503:
        assert [("retry-after", "1")] == list(answer.headers)
        assert "The server is full." == document(answer)["message"]


async def test_that_somebody_was_known_is_remembered_for_the_connection():
    door = a_door(row(access=Access.OPEN))
    request = asking(who="")

    await door.answer(request)
    stranger = request.client.is_known
    known = asking()
    known.client = request.client
    await door.answer(known)
    await door.answer(request)

    assert (False, True) == (stranger, request.client.is_known)


PAGE = "https://app.example.org"


async def test_a_page_on_the_list_may_read_answers_and_a_browser_may_ask_first():
    door = a_door(row(), row(method="POST"), pages={PAGE})
    asks = {"origin": PAGE, "access-control-request-method": "POST"}

    first = await door.answer(asking("OPTIONS", who="", **asks))
    then = await door.answer(asking("POST", origin=PAGE))
    refused = await door.answer(asking("POST", who="", origin=PAGE))

    assert [204, 204, 401] == [first.status, then.status, refused.status]
    for answer in (first, then, refused):
        assert PAGE == dict(answer.headers)["access-control-allow-origin"]
        assert "origin" in dict(answer.headers)["vary"]
        assert "access-control-allow-credentials" not in dict(answer.headers)
    assert "POST" in dict(first.headers)["access-control-allow-methods"]
    assert "coder-session-token" in dict(first.headers)["access-control-allow-headers"]


@pytest.mark.parametrize("origin", ["https://other.example.org", "null", ""])
async def test_a_page_that_is_not_on_the_list_is_told_nothing(origin):
    door = a_door(row(), pages={PAGE})
    asks = {"origin": origin, "access-control-request-method": "GET"}

    first = await door.answer(asking("OPTIONS", **asks))
    then = await door.answer(asking(origin=origin))

    assert [405, 204] == [first.status, then.status]
    for answer in (first, then):
        assert not any(name.startswith("access-control") for name, _ in answer.headers)


async def test_without_a_list_no_page_of_another_site_reads_anything():
    answer = await a_door(row()).answer(asking(origin=PAGE))

    assert not any(name.startswith("access-control") for name, _ in answer.headers)


async def test_an_answer_that_a_client_has_already_is_not_sent_again():
    said = ["first"]

    async def told(call):
        return json_response(200, said[0])

    door = a_door(row(told, has_etag=True))
    first = await door.answer(asking())
    etag = dict(first.headers)["etag"]

    same = [
        await door.answer(asking(**{"if-none-match": name}))
        for name in (etag, f'"x", {etag}', etag.removeprefix("W/"), "*")
    ]
    said[0] = "second"
    changed = await door.answer(asking(**{"if-none-match": etag}))

    assert [(304, b"")] * 4 == [(answer.status, answer.body) for answer in same]
    assert {etag} == {dict(answer.headers)["etag"] for answer in same}
    assert (200, "second") == (changed.status, document(changed))
    assert etag != dict(changed.headers)["etag"]


async def test_a_refusal_has_no_etag_and_a_row_without_etags_sends_none():
    async def refused(call):
        raise HttpError(404, "no")

    for one in (row(refused, has_etag=True), row()):
        assert "etag" not in dict((await a_door(one).answer(asking())).headers)
