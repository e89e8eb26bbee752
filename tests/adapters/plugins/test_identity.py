"""Identity sources of plugins: what they are told, and what becomes of their faults."""

from ipaddress import ip_network

import pytest

from adapters.http.refusals import HttpError
from adapters.http.requests import ClientConnection, HttpRequest
from adapters.people.auth.callers import IdentifiedUser
from adapters.plugins import identity
from adapters.plugins.identity import identify_by
from adapters.plugins.plugins import NO_PLUGINS, open_plugins
from tests.patience import PATIENCE_SECONDS

TRUSTED = frozenset({ip_network("10.0.0.0/8")})
CODE = """
asked = []

class Header(ext.IdentitySource):
    async def identify(self, request):
        asked.append(request)
        user = request.headers.get("x-user")
        if not (user and request.is_from_trusted_proxy):
            return None
        return ext.Identity(user, scopes=tuple(request.headers.get("x-scopes", "all").split()))

class Second(ext.IdentitySource):
    async def identify(self, request):
        return ext.Identity("second") if request.path == "/second" else None

class Bad(ext.IdentitySource):
    async def identify(self, request):
        match request.headers.get("x-how"):
            case "hang": await trio.sleep_forever()
            case "raise": raise KeyError("why")
            case "text": return "ann"
            case "blank": return ext.Identity("")
            case "scope": return ext.Identity("ann", scopes=("root",))
            case "block": time.sleep(1.0)
            case "write": request.headers.clear()

"""


def request(path="/api", host="10.1.2.3", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpRequest("GET", path, "", named, ClientConnection(host))


@pytest.fixture
async def plugins(install):
    install("proxy", CODE, identity="Header, Second")
    install("bad", CODE, identity="Bad")
    async with open_plugins(["proxy", "bad"]) as plugins:
        yield plugins


@pytest.fixture
def identify(plugins):
    return identify_by(plugins, TRUSTED)


def test_without_sources_nothing_is_asked():
    assert identify_by(NO_PLUGINS, TRUSTED) is None


async def test_the_first_source_that_knows_whose_a_request_is_says_it(identify):
    assert IdentifiedUser("ann", frozenset({"all"})) == await identify(request(x_user="ann"))
    read = await identify(request(x_user="ann", x_scopes="chats:read models"))
    assert frozenset({"chats:read", "models"}) == read.scopes
    assert IdentifiedUser("second", frozenset({"all"})) == await identify(request("/second"))
    assert await identify(request()) is None


@pytest.mark.parametrize("host", ["192.0.2.1", "", "unknown", "11.0.0.1"])
async def test_a_source_knows_whether_the_peer_is_a_proxy_of_ours(identify, host):
    assert await identify(request(host=host, x_user="ann", x_forwarded_for="10.0.0.1")) is None


FAULTS = {
    "raise": "why",
    "write": "no attribute 'clear'",
    "text": "it said a str, must be an Identity or None",
    "blank": "it said '', which is no name of a user",
    "scope": "its scopes are ('root',), there are all",
}


@pytest.mark.parametrize("how", FAULTS)
async def test_a_fault_refuses_the_request_and_is_counted(identify, plugins, how, entries):
    with pytest.raises(HttpError) as refused:
        await identify(request(x_how=how))

    assert 503 == refused.value.status
    assert 1 == plugins.statistics()["bad"].failed_count
    [entry] = entries.of("plugin.call_failed")
    assert ("bad", "/api") == (entry["plugin"], entry["path"])
    assert FAULTS[how] in str(entry["error"])


@pytest.mark.parametrize("how", ["hang", "block"])
async def test_a_source_that_does_not_answer_holds_up_nobody_for_long(
    identify, monkeypatch, bounds, how
):
    monkeypatch.setattr(identity, "IDENTIFY_SECONDS", 0.2)
    bounds(CANCEL_GRACE_SECONDS=0.1)

    with pytest.raises(HttpError, match=r"It could not be found out who asks"):
        await identify(request(x_how=how))

    monkeypatch.setattr(identity, "IDENTIFY_SECONDS", PATIENCE_SECONDS)
    assert IdentifiedUser("ann", frozenset({"all"})) == await identify(request(x_user="ann"))
