"""Where strangers may send us: a table of addresses, names that change, redirects."""

from ipaddress import ip_network

import httpx2
import pytest
import trio

from adapters.tools.mcp.oauth.guard import AddressRefused, guarded_client, is_reachable, resolved
from tests.fakes.auth_server import an_auth_server
from tests.fakes.tool_server import Raw
from tests.patience import PATIENCE_SECONDS

REFUSED = (
    *("127.0.0.1", "127.8.9.1", "::1", "0.0.0.0", "0.1.2.3", "::", "10.1.2.3", "172.16.0.1"),
    *("192.168.1.1", "169.254.169.254", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1"),
    *("224.0.0.1", "ff02::1", "100.64.0.1", "100.127.255.255", "198.18.0.1", "198.19.255.255"),
    *("64:ff9b:1::1", "100::1", "2001:2::1", "2001:db8::1", "240.0.0.1", "255.255.255.255"),
    *("64:ff9b::10.0.0.1", "2002:a00:1::", "2002:7f00:1::1", "2001:0:1:1:0:0:f5ff:fffe"),
    *("192.0.0.1", "192.0.0.9", "192.0.0.255", "fec0::1", "feff::1", "::127.0.0.1"),
    "::ffff:0:7f00:1",
    *("64:ff9b::c000:1", "2002:c000:1::", "64:ff9b::127.0.0.1", "2002:a9fe:a9fe::1"),
    *("::ffff:192.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"),
)
ALLOWED = ("1.1.1.1", "8.8.8.8", "100.128.0.1", "198.20.0.1", "2606:4700::1111", "::ffff:8.8.8.8")
ALLOWED += ("192.0.1.1", "64:ff9b::8.8.8.8", "2002:808:808::1")
LOOPBACK = [ip_network("127.0.0.0/8")]


@pytest.mark.parametrize("address", REFUSED)
def test_no_stranger_sends_us_there(address):
    assert not is_reachable(address)


@pytest.mark.parametrize("address", ALLOWED)
def test_strangers_may_send_us_there(address):
    assert is_reachable(address)


def test_an_administrator_may_allow_a_network():
    assert is_reachable("127.0.0.1", LOOPBACK)
    assert is_reachable("::ffff:127.0.0.1", LOOPBACK)
    assert not is_reachable("10.0.0.1", LOOPBACK)
    assert not is_reachable("::1", LOOPBACK)


def names(**table):
    async def resolve(host, port):
        return table[host.partition(".")[0]]

    return resolve


@pytest.mark.parametrize("found", [["10.0.0.1"], ["8.8.8.8", "127.0.0.1"]])
async def test_one_address_of_ours_is_enough_to_refuse_a_name(found):
    async with guarded_client(resolve=names(a=found)) as client:
        with pytest.raises(AddressRefused, match=r"^a\.example: leads into a private network"):
            await client.get("http://a.example/")


async def test_what_was_looked_at_is_what_is_dialled():
    async with an_auth_server() as auth:
        port = auth.url.rpartition(":")[2]
        auth.answers["/x"] = Raw(b"here", 200)
        resolve = names(a=["127.0.0.1"])

        async with guarded_client(LOOPBACK, resolve) as client:
            answer = await client.get(f"http://a.example:{port}/x")

    assert b"here" == answer.content
    [(_, _, headers)] = auth.asked
    assert f"a.example:{port}" == headers["host"]


async def test_a_redirect_is_looked_at_like_any_other_address():
    async with an_auth_server() as auth:
        auth.answers["/x"] = Raw(b"", 302, {"location": "http://b.example/"})
        resolve = names(a=["127.0.0.1"], b=["10.0.0.1"])
        port = auth.url.rpartition(":")[2]

        async with guarded_client(LOOPBACK, resolve) as client:
            with pytest.raises(AddressRefused, match=r"^b\.example: "):
                await client.get(f"http://a.example:{port}/x")


@pytest.mark.parametrize("host", ["a" * 70 + ".example", "a..example"])
async def test_a_name_that_is_none_cannot_be_resolved(host):
    async with guarded_client() as client:
        with pytest.raises(httpx2.ConnectError, match=r"cannot be resolved$"):
            await client.get(f"http://{host}/")


async def test_names_of_strangers_are_looked_for_apart_from_everything_else():
    threads = trio.to_thread.current_default_thread_limiter()
    for number in range(int(threads.total_tokens)):
        threads.acquire_on_behalf_of_nowait(number)
    try:
        with trio.fail_after(PATIENCE_SECONDS):
            assert "127.0.0.1" in await resolved("localhost", 80)
    finally:
        for number in range(int(threads.total_tokens)):
            threads.release_on_behalf_of(number)


async def test_redirects_have_an_end():
    async with an_auth_server() as auth:
        auth.answers["/x"] = Raw(b"", 302, {"location": "/x"})

        async with guarded_client(LOOPBACK) as client:
            with pytest.raises(httpx2.TooManyRedirects):
                await client.get(f"{auth.url}/x")

    assert 11 == len(auth.asked)
