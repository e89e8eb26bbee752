"""The model behind a real socket: connections, bounds, breaks, steering while it runs."""

import json
import resource

import httpx2
import pytest
import trio

from adapters.rehearsal import server
from tests.adapters.rehearsal.serving import VENDORS, a_model, events, request
from tests.patience import PATIENCE_SECONDS

TERMINAL = {
    "anthropic": b"message_stop",
    "chat": b"[DONE]",
    "responses": b"response.completed",
    "google": b"finishReason",
}


def raw(vendor="anthropic", text="hello"):
    """A request as bytes."""
    path, document = request(vendor, text)
    body = json.dumps(document).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: here\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def read_until(stream, end):
    found = b""
    while end not in found:
        piece = await stream.receive_some()
        assert piece, f"they hung up after {found[-200:]!r}"
        found += piece
    return found


async def rest_of(stream):
    found = b""
    while piece := await stream.receive_some():
        found += piece
    return found


async def heard_last(model):
    """The last request, when its answer has ended."""
    with trio.fail_after(PATIENCE_SECONDS):
        while True:
            last = (await model.heard())[-1]
            if last["ended"] is not None:
                return last
            await trio.sleep(0.01)


@pytest.mark.parametrize("vendor", VENDORS)
async def test_the_same_seed_gives_the_same_bytes(vendor):
    bodies = []
    for _ in range(2):
        async with a_model(seed=5, jitter=1, faults="529@50%") as model:
            bodies.append([(await model.ask(vendor)).content for _ in range(6)])

    assert bodies[0] == bodies[1]


@pytest.mark.parametrize("pieces", [{}, {"events_per_write": 7}, {"writes_per_event": 5}])
@pytest.mark.parametrize("vendor", VENDORS)
async def test_pieces_change_nothing_of_what_is_said(vendor, pieces):
    async with a_model(deltas=5) as model, a_model(deltas=5, **pieces) as other:
        assert (await model.ask(vendor)).content == (await other.ask(vendor)).content


async def test_a_connection_serves_request_after_request_also_those_sent_ahead():
    async with a_model(deltas=1) as model:
        stream = await model.connect()
        await stream.send_all(raw() + raw("chat"))
        await read_until(stream, b"[DONE]\n\n\r\n0\r\n\r\n")
        await stream.send_all(raw("google"))

        assert b"finishReason" in await read_until(stream, b"\r\n0\r\n\r\n")
        assert ["whole"] * 3 == [heard["ended"] for heard in await model.heard()]


async def test_waiting_takes_the_time_that_is_set(clock_over_sockets):
    async with a_model(headers_ms=500, first_token_ms=1000, delta_ms=100, deltas=6) as model:
        began = trio.current_time()
        await model.ask()
        streamed = trio.current_time() - began
        await model.ask(streamed=False)

    assert pytest.approx(2.0, abs=0.1) == streamed
    assert pytest.approx(2.0, abs=0.1) == trio.current_time() - began - streamed


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_truncated_stream_ends_well_but_without_its_terminal_event(vendor):
    async with a_model(faults="truncate:2") as model:
        answer = await model.ask(vendor)

    assert 200 == answer.status_code
    assert TERMINAL[vendor] not in answer.content
    assert events(answer.content)


@pytest.mark.parametrize("vendor", VENDORS)
async def test_garbage_is_one_event_that_is_no_json(vendor):
    async with a_model(faults="garbage:2") as model:
        answer = await model.ask(vendor)

    assert TERMINAL[vendor] in answer.content
    with pytest.raises(json.JSONDecodeError):
        events(answer.content)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("fault", ["reset", "hangup"])
async def test_a_broken_answer_is_a_broken_connection(fault, streamed):
    broken = httpx2.ReadError if fault == "reset" else httpx2.RemoteProtocolError
    async with a_model(faults=f"{fault}@1") as model:
        with pytest.raises(broken):
            await model.ask(streamed=streamed)

        last = await heard_last(model)
        again = await model.ask(streamed=streamed)

    assert (fault, {"reset": "reset", "hangup": "hung up"}[fault]) == (last["fault"], last["ended"])
    assert 200 == again.status_code


async def test_a_silent_stream_says_nothing_more_until_the_client_hangs_up():
    async with a_model(faults="silence:1") as model:
        stream = await model.connect()
        await stream.send_all(raw())
        await read_until(stream, b"text_delta")
        with trio.move_on_after(0.05) as nothing:
            await stream.receive_some()
        await stream.aclose()

        assert nothing.cancelled_caught
        assert "client gone" == (await heard_last(model))["ended"]


async def test_a_client_that_hangs_up_in_a_long_wait_is_seen_at_once():
    async with a_model(delta_ms=60_000) as model:
        stream = await model.connect()
        await stream.send_all(raw())
        await read_until(stream, b"text_delta")
        await stream.aclose()

        assert "client gone" == (await heard_last(model))["ended"]


async def test_what_was_due_to_a_client_that_has_gone_is_sent_to_nobody(clock_over_sockets):
    async with a_model(delta_ms=1000) as model:
        await model.heard()  # by a connection that is older, and stays
        stream = await model.connect()
        await stream.send_all(raw())
        await read_until(stream, b"text_delta")
        await stream.aclose()
        await heard_last(model)
        others = [await model.connect() for _ in range(5)]  # one of them has its descriptor now

        with trio.move_on_after(5):
            async with trio.open_nursery() as nursery:
                for other in others:
                    nursery.start_soon(_hears_nothing, other)


async def _hears_nothing(stream):
    assert not await stream.receive_some()


async def test_a_client_that_does_not_read_is_cut_off(monkeypatch):
    monkeypatch.setattr(server, "SEND_SECONDS", 0.05)
    async with a_model(deltas=1000, delta_chars=4096) as model:
        stream = await model.connect()
        await stream.send_all(raw())

        assert "client too slow" == (await heard_last(model))["ended"]


async def test_a_client_that_reads_slowly_gets_everything():
    async with a_model(deltas=500, delta_chars=4096) as model:
        answer = await model.ask()

    said = "".join(
        document["delta"]["text"]
        for name, document in events(answer.content)
        if name == "content_block_delta"
    )
    assert 500 * 4096 == len(said)


async def test_a_marker_steers_the_answer_to_its_message_only():
    async with a_model(deltas=1) as model:
        failed = await model.ask(text="try [[fault: 503:9@1]] [[text: done]]", streamed=False)
        again = await model.ask(text="try [[fault: 503:9@1]] [[text: done]]", streamed=False)
        other = await model.ask(text="try", streamed=False)

    assert (503, "9") == (failed.status_code, failed.headers["retry-after"])
    assert "done" == again.json()["content"][0]["text"]
    assert "Begin" == other.json()["content"][0]["text"]


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_marker_that_cannot_be_is_refused_in_the_vendors_form(vendor):
    async with a_model() as model:
        answer = await model.ask(vendor, "[[deltas: x]]")

    assert 400 == answer.status_code
    assert "deltas: is 'x', must be 0..100000" == answer.json()["error"]["message"]


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"model": 5}', b"\xff", b"[" * 100_000])
async def test_a_body_that_is_no_request_is_refused_in_the_vendors_form(vendor, body):
    async with a_model() as model:
        answer = await model.client.post(request(vendor)[0], content=body)

    assert 400 == answer.status_code
    assert answer.json()["error"]["message"]


async def test_behaviour_changes_while_it_runs_and_counts_start_again():
    async with a_model(deltas=3, faults="500") as model:
        await model.ask()
        changed = await model.client.put("/_fake/behaviour", json={"faults": "529@2"})
        statuses = [(await model.ask()).status_code for _ in range(3)]
        heard = await model.heard()

    assert (200, 3, ["529@2"]) == (
        changed.status_code,
        changed.json()["deltas"],
        changed.json()["faults"],
    )
    assert [200, 529, 200] == statuses
    assert [(1, None), (2, "529"), (3, None)] == [(each["number"], each["fault"]) for each in heard]


async def test_the_same_words_in_another_chat_are_another_conversation():
    async with a_model(deltas=1) as model:
        path, asked = request("chat", "[[fault: 500@1]]", False)
        asks = [("a", path), ("b", path), ("a", path), ("a", f"/other{path}")]
        answers = [
            await model.client.post(to, json=asked, headers={"X-Promptcorner-Chat-Id": chat})
            for chat, to in asks
        ]

    assert [500, 500, 200, 500] == [answer.status_code for answer in answers]


@pytest.mark.parametrize("vendor", VENDORS)
async def test_what_a_daemon_asks_beside_a_turn_takes_no_answer_of_the_script(vendor):
    script = [{"text": "the first"}, {"text": "the second"}]
    async with a_model(delta_chars=99, deltas=1, script=script) as model:
        said = []
        for streamed, chat in [(False, "a"), (True, "a"), (False, "a"), (False, None)]:
            path, asked = request(vendor, "hello", streamed)
            headers = {} if chat is None else {"X-Promptcorner-Chat-Id": chat}
            answer = (await model.client.post(path, json=asked, headers=headers)).text
            said.append([each["text"] for each in script if each["text"] in answer])

    assert [[], ["the first"], [], ["the second"]] == said


async def test_attempts_are_counted_again_after_a_change():
    async with a_model(deltas=1) as model:
        failed = await model.ask(text="[[fault: 500@1]]")
        await model.client.put("/_fake/behaviour", json={})
        again = await model.ask(text="[[fault: 500@1]]")

    assert (500, 500) == (failed.status_code, again.status_code)


async def test_a_wrong_behaviour_is_refused_and_changes_nothing():
    async with a_model(deltas=3) as model:
        refused = await model.client.put("/_fake/behaviour", json={"deltas": -1})
        now = await model.client.get("/_fake/behaviour")

    assert (400, {"message": "deltas: is -1, must be 0..100000"}) == (
        refused.status_code,
        refused.json(),
    )
    assert 3 == now.json()["deltas"]


async def test_what_was_asked_is_told_without_keys():
    async with a_model(deltas=1) as model:
        path, document = request("anthropic", "how are you")
        await model.client.post(path, json=document, headers={"x-api-key": "sk-secret"})
        (heard,) = await model.heard()

    assert ("/v1/messages", document) == (heard["path"], heard["body"])
    assert "[redacted]" == heard["headers"]["x-api-key"]
    assert "sk-secret" not in json.dumps(heard)


async def test_only_the_last_requests_are_kept():
    async with a_model(deltas=0) as model:
        for _ in range(260):
            await model.ask(text="x" * 10, streamed=False)
        await model.ask(text="x" * 70_000, streamed=False)
        heard = await model.heard()

    assert (256, 261) == (len(heard), heard[-1]["number"])
    assert (None, True) == (heard[-1]["body"], heard[-1]["body_bytes"] > 70_000)


async def test_a_model_that_is_not_controllable_has_no_such_paths():
    async with (
        server.serve(server.Behaviour(), controllable=False) as running,
        httpx2.AsyncClient(
            base_url=running.url, trust_env=False, timeout=PATIENCE_SECONDS
        ) as client,
    ):
        answer = await client.put("/_fake/behaviour", json={"deltas": 1})

    assert 404 == answer.status_code


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.0\r\n\r\n", b"505"),
        (b"GET /%s HTTP/1.1\r\n" % (b"x" * server.HEAD_BYTES_MAX), b"431"),
        (b"GET /nowhere HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n", b"404"),
    ],
)
async def test_what_is_no_request_for_an_answer_is_refused(sent, status):
    async with a_model() as model:
        stream = await model.connect()
        await stream.send_all(sent)

        assert (await rest_of(stream)).startswith(b"HTTP/1.1 " + status)


async def test_a_body_over_the_bound_is_refused(monkeypatch):
    monkeypatch.setattr(server, "BODY_BYTES_MAX", 1000)
    async with a_model() as model:
        answer = await model.ask(text="x" * 1000)

    assert 413 == answer.status_code


async def test_a_request_that_does_not_end_is_answered_in_time(monkeypatch):
    monkeypatch.setattr(server, "REQUEST_SECONDS", 0.05)
    async with a_model() as model:
        stream = await model.connect()
        await stream.send_all(raw()[:-1])

        assert (await rest_of(stream)).startswith(b"HTTP/1.1 408")


async def test_a_connection_over_the_bound_is_refused(monkeypatch):
    monkeypatch.setattr(server, "CONNECTIONS_MAX", 1)
    async with a_model(deltas=1) as model:
        for _ in range(3):
            first = await model.connect()
            await first.send_all(raw().replace(b"Host", b"Connection: close\r\nHost"))
            assert b"message_stop" in await rest_of(first)
        first = await model.connect()
        await first.send_all(raw())
        await read_until(first, b"\r\n0\r\n\r\n")
        second = await model.connect()

        assert (await rest_of(second)).startswith(b"HTTP/1.1 503")


async def test_who_asks_whether_to_send_a_body_is_told_to():
    async with a_model(deltas=1) as model:
        stream = await model.connect()
        head, _, body = raw().partition(b"\r\n\r\n")
        await stream.send_all(head + b"\r\nExpect: 100-continue\r\n\r\n")
        await read_until(stream, b"100 Continue\r\n\r\n")
        await stream.send_all(body)

        assert b"message_stop" in await read_until(stream, b"\r\n0\r\n\r\n")


@pytest.mark.slow
async def test_thousands_of_streams_run_at_once():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    streams, done = min(2000, most // 3), []

    async def ask(model):
        stream = await model.connect()
        await stream.send_all(raw())
        await read_until(stream, b"\r\n0\r\n\r\n")
        done.append(1)

    async with a_model(first_token_ms=2000, delta_ms=100, deltas=5) as model:
        async with trio.open_nursery() as nursery:
            for _ in range(streams):
                nursery.start_soon(ask, model)
        assert streams == len(done)
