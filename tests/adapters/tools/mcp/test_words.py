"""What is said of a server that goes wrong: no library's own notation."""

import json

import h11
import httpx2
import msgspec
import pytest
from mcp.types import jsonrpc_message_adapter

from adapters.tools.mcp.faults import ServerFault, words_for
from adapters.workspaces.templates import FaultyTemplate, Templates
from tests.adapters.chats.plain_words import assert_plain


def raised_by(work, *args):
    with pytest.raises(Exception, match=r".") as caught:
        work(*args)
    return caught.value


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ServerFault("it is not there"), "it is not there"),
        (
            httpx2.RemoteProtocolError("illegal header line: bytearray(b'x')"),
            "it does not speak HTTP as it should",
        ),
        (httpx2.ReadError(""), "the connection broke"),
        (httpx2.InvalidURL("Invalid port: 'port'"), "its address is none"),
        (raised_by(bytes.decode, b"\xff"), "what it said is not UTF-8"),
        (UnicodeError("label too long"), "its address is none"),
        (raised_by(json.loads, "{"), "what it said makes no sense"),
        (raised_by(jsonrpc_message_adapter.validate_json, "{}"), "what it said makes no sense"),
        (ExceptionGroup("all", [httpx2.ConnectError("x")]), "it cannot be reached"),
    ],
)
def test_a_fault_is_a_sentence(error, words):
    assert words == words_for(error)
    assert_plain(words)


def test_a_broken_head_is_what_a_library_would_show():
    """As long as it is so, our own words are needed."""
    protocol = h11.Connection(h11.SERVER)
    protocol.receive_data(b"GET / HTTP/1.1\r\nHost : x\r\n\r\n")

    assert "bytearray(" in str(raised_by(protocol.next_event))


@pytest.mark.parametrize("content", [b"\xff", b"[", b"setup = 1", None])
async def test_a_template_that_cannot_be_read_is_said_to_be_so(tmp_path, content):
    file = tmp_path / "web.toml"
    if content is None:
        file.symlink_to(tmp_path)  # there, and no file
        (tmp_path / "web").mkdir()
    else:
        file.write_bytes(content)

    faulty = await Templates(tmp_path).named("web")

    assert isinstance(faulty, FaultyTemplate)
    assert_plain(faulty.why)


def test_a_message_of_the_wire_is_refused_in_sentences():
    assert_plain(str(raised_by(lambda: msgspec.json.decode(b"{", type=dict[str, int]))))
