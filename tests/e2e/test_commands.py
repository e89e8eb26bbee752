"""Commands that ask a running daemon, as a person or a script types them."""

import http.client
import json
import re
from urllib.parse import urlencode, urlsplit

import psycopg
import pytest

from tests.e2e.daemons import a_daemon, run
from tests.e2e.processes import belonging_to, eventually
from tests.folders import a_folder, in_memory
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

ADMIN = "a-token-of-the-first-admin-for-these-tests"
PASSWORD = "nine-rivers-and-a-bridge"


@pytest.fixture(scope="module")
def home():
    with a_folder(in_memory()) as top:
        yield top / "home"
        eventually(lambda: not belonging_to(top), "every process of the daemon is gone")


@pytest.fixture(scope="module")
def url(home):
    with a_daemon(home, PROMPTCORNER_ADMIN_TOKEN=ADMIN) as daemon:
        yield "http://" + daemon.wait_ready()["listen"]
        assert 0 == daemon.stop()


@pytest.fixture
def ask(url):
    """Run a command as the admin, or as whoever has another token; what it printed."""

    def asked(*words, token=ADMIN, said="", **settings):
        who = {"PROMPTCORNER_URL": url, "PROMPTCORNER_TOKEN": token}
        code, out, err = run(*words, said=said, **who, **settings)
        assert (0, "") == (code, err), err
        return out

    return asked


@pytest.fixture
def refused(url):
    """Likewise, of a command that cannot do it: the one line that it says."""

    def said_no(*words, token=ADMIN, where=url, exit_code=1, **settings):
        code, out, err = run(*words, PROMPTCORNER_URL=where, PROMPTCORNER_TOKEN=token, **settings)
        assert (exit_code, "", 1) == (code, out, err.count("\n")), err
        return err.removeprefix("promptcorner: ").rstrip("\n")

    return said_no


def cells(table):
    """The rows of a table by their first cells."""
    _, *rows = table.splitlines()
    return {row.split()[0]: row.split() for row in rows}


def set_password(link, password):
    """What a browser does with a one-time link."""
    parts = urlsplit(link)
    client = http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE_SECONDS)
    client.request("GET", parts.path)
    page = client.getresponse()
    [value] = re.findall(r'name="csrf" value="(\w+)"', page.read().decode())
    form = urlencode({"password": password, "again": password, "csrf": value})
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Cookie": page.headers["Set-Cookie"].partition(";")[0],
        "Origin": f"http://{parts.netloc}",
        "Sec-Fetch-Site": "same-origin",
    }
    client.request("POST", parts.path, form, headers)
    status = client.getresponse().status
    client.close()
    return status


def test_a_new_user_gets_a_link_sets_a_password_and_makes_a_token(ask, refused, url):
    link = ask(
        "users", "create", "ann", "--email", "ann@example.org", "--name", "Ann Smith"
    ).strip()
    assert link.startswith(f"{url}/join/")
    assert 200 == set_password(link, PASSWORD)

    token = ask("tokens", "create", "laptop", "--login", "ann", said=PASSWORD + "\n").strip()

    assert ["laptop"] == list(cells(ask("tokens", "list", token=token)))
    assert "403 Forbidden" in refused("users", "list", token=token)
    ask("tokens", "revoke", "laptop", "--user", "ann")
    assert refused("tokens", "list", token=token).startswith(f"daemon {url}: 401 ")
    wrong = refused("tokens", "create", "other", "--login", "ann", said="wrong\n")
    assert "401 Incorrect username, email or password" in wrong


def test_workspaces_are_listed_stopped_started_and_removed(home, database):
    with a_daemon(
        home.parent / "other", DATABASE_URL=database, PROMPTCORNER_ADMIN_TOKEN=ADMIN
    ) as daemon:
        who = {"PROMPTCORNER_URL": "http://" + daemon.wait_ready()["listen"]}
        ids = a_workspace(database, "web"), a_workspace(database, "api")

        def ask(*words):
            code, out, err = run("workspaces", *words, PROMPTCORNER_TOKEN=ADMIN, **who)
            return out if not code else err.removeprefix("promptcorner: ").rstrip("\n")

        assert ["empty", "An", "empty", "directory"] == cells(ask("templates"))["empty"]
        assert {"web", "api"} == set(cells(ask("list")))
        assert {"api"} == set(cells(ask("list", "--search", "api")))
        assert "stopped" in cells(ask("stop", "web"))["web"]
        assert "running" in cells(ask("start", ids[0]))["web"]
        assert "web is removed" == ask("remove", "web").strip()
        assert {"api"} == set(cells(ask("list")))
        assert "workspaces: none is called 'web'" == ask("stop", "web")
        assert "404 " in ask("remove", ids[0])
        assert 0 == daemon.stop()


def a_workspace(database, name):
    """Of the first admin."""
    with psycopg.connect(database, autocommit=True) as connection:
        [(id,)] = connection.execute(
            "INSERT INTO workspaces (id, owner_id, name, template, memory_mb, file_mb, processes,"
            " seconds) SELECT gen_random_uuid(), id, %s, 'empty', 1, 1, 1, 1 FROM users"
            " WHERE username = 'admin' RETURNING id",
            (name,),
        )
    return str(id)


def test_users_are_listed_suspended_promoted_and_deleted(ask, refused):
    ask("users", "create", "bob", "--name", "Bob")

    row = cells(ask("users", "list"))["bob"]
    assert ["bob", "Bob", "-", "member", "dormant", "never"] == row
    assert "suspended" in cells(ask("users", "suspend", "bob"))["bob"]
    assert "suspended" not in cells(ask("users", "activate", "bob"))["bob"]
    assert "admin" in cells(ask("users", "promote", "bob"))["bob"]
    assert "member" in cells(ask("users", "demote", "bob"))["bob"]
    assert {"bob"} == set(cells(ask("users", "list", "--search", "bob")))
    assert "bob is deleted\n" == ask("users", "delete", "bob")
    assert "bob" not in cells(ask("users", "list"))
    assert "404 " in refused("users", "suspend", "bob")
    assert "409 " in refused("users", "create", "admin")


def test_house_is_kept_when_it_is_asked_for_and_a_dry_run_removes_nothing(ask):
    dry = cells(ask("housekeeping", "--dry-run"))
    done = cells(ask("housekeeping"))
    status = ask("housekeeping", "--status")

    assert {"archive", "retention", "erase", "files", "tokens"} <= set(dry)
    assert set(dry) == set(done)
    assert "archived chats are erased: after 30 days" in status
    assert "the last pass ended at " in status


def test_programs_get_the_answer_as_it_is(ask):
    users = json.loads(ask("users", "list", "--json"))

    assert {"users", "count"} == set(users)
    assert "admin" in [user["username"] for user in users["users"]]


def test_a_token_is_printed_alone_and_once(ask, refused):
    token = ask("tokens", "create", "bot", "--scope", "chats:read", "--days", "1").strip()

    listed = ask("tokens", "list")
    assert token not in listed
    assert ["bot", token[:10], "admin", "chats:read"] == cells(listed)["bot"][:4]
    assert "403 " in refused("users", "list", token=token)
    assert "409 " in refused("tokens", "create", "bot")
    assert "bot is revoked\n" == ask("tokens", "revoke", "bot")
    assert "bot" not in cells(ask("tokens", "list", "--all"))


def test_a_provider_is_added_with_its_models_and_shows_no_key(ask, url, tmp_path):
    key = tmp_path / "key"
    key.write_text("sk-0123456789-0123456789\n")
    models = ("--model", "claude-sonnet-4-5", "--model", "claude-opus-4-1")

    added = ask("providers", "add", "claude", "--type", "anthropic", *models, "--key-file", key)

    assert ["claude", "anthropic", "database", "yes"] == cells(added)["claude"][:4]
    listed = cells(ask("providers", "list"))["claude"]
    assert "https://api.anthropic.com" in listed
    assert {"claude-sonnet-4-5", "claude-opus-4-1"} == {word.strip(",*") for word in listed[-2:]}
    first, second = listed[4], "sk-9876543210-9876543210"
    ask("providers", "key", "claude", "--key-file", "-", said=second)
    shown = ask("providers", "list")
    assert first != cells(shown)["claude"][4]
    assert "0123456789" not in shown
    here = {"PROMPTCORNER_URL": url, "PROMPTCORNER_TOKEN": ADMIN}
    code, out, err = run("providers", "disable", "claude", **here)
    assert (0, "no") == (code, cells(out)["claude"][3])
    assert "stays the default: chats that name no model are refused" in err
    assert "yes" in cells(ask("providers", "enable", "claude"))["claude"]
    assert "claude is removed\n" == ask("providers", "remove", "claude")
    assert "claude" not in cells(ask("providers", "list"))


def test_the_default_model_is_shown_and_set_and_another_is_offered_when_it_goes(ask, refused, url):
    where = ("--type", "openai-compat", "--base-url", "http://127.0.0.1:9/v1")
    ask("providers", "add", "near", *where, "--model", "tide")
    ask("providers", "add", "far", *where, "--model", "tide", "--model", "moon")

    assert "far/moon\n" == ask("providers", "default", "moon")
    assert "far/moon\n" == ask("providers", "default")
    assert "tide is a model of several providers" in refused("providers", "default", "tide")
    assert "nothing is no model; there are: " in refused("providers", "default", "nothing")
    here = {"PROMPTCORNER_URL": url, "PROMPTCORNER_TOKEN": ADMIN}
    _, _, err = run("providers", "disable", "far", **here)
    assert "far/moon stays the default" in err
    assert "promptcorner providers default " in err
    ask("providers", "enable", "far")
    ask("providers", "disable", "far", "--default", "near/tide")
    assert "near/tide\n" == ask("providers", "default")

    ask("providers", "remove", "near")
    ask("providers", "remove", "far")
    assert "tide" not in ask("providers", "default")


def test_a_provider_whose_models_are_refused_is_not_there(ask, refused):
    words = ("--type", "openai-compat", "--base-url", "http://127.0.0.1:9/v1")

    said = refused("providers", "add", "local", *words, "--model", " ")

    assert "400 " in said
    assert "local" not in cells(ask("providers", "list"))


def test_what_is_not_said_is_asked_for(refused):
    azure = refused("providers", "add", "a", "--type", "azure", "--model", "gpt-5")

    expected = "providers: the type azure has no address of its own; name one with --base-url"
    assert expected == azure


def test_who_shows_no_token_or_a_wrong_one_is_told_what_to_do(refused, url):
    missing = refused("users", "list", token="", PROMPTCORNER_DATA_DIR="/none")
    wrong = refused("users", "list", token="wrong")

    assert missing.startswith("token: none is set; set PROMPTCORNER_TOKEN; ")
    assert wrong.startswith(f"daemon {url}: 401 ")
    assert wrong.endswith("; set PROMPTCORNER_TOKEN to a token that is good")


def test_on_the_daemons_machine_whoever_reads_its_key_needs_no_token(ask, home):
    assert "admin" in cells(ask("users", "list", token="", PROMPTCORNER_DATA_DIR=str(home)))


def test_a_token_may_stand_in_a_file(refused, url, tmp_path):
    file = tmp_path / "token"
    file.write_text(ADMIN + "\n")

    code, out, _ = run("users", "list", PROMPTCORNER_URL=url, PROMPTCORNER_TOKEN_FILE=str(file))
    none = refused("users", "list", token="", PROMPTCORNER_TOKEN_FILE="/none")

    assert (0, True) == (code, "admin" in cells(out))
    assert "PROMPTCORNER_TOKEN_FILE: /none cannot be read (No such file or directory)" == none


def test_a_daemon_that_is_not_there_is_named(refused):
    away = refused("users", "list", where="http://127.0.0.1:9", exit_code=4)
    none = refused("users", "list", where="127.0.0.1:9")

    assert away.startswith("daemon http://127.0.0.1:9: cannot be reached (")
    assert away.endswith("; start it with `promptcorner serve`, or name another with --url")
    assert none.startswith("url: 127.0.0.1:9, must be http:// or https://, ")


# straight in the database


def test_an_operator_who_has_lost_the_password_makes_a_link(ask, home, url):
    code, out, err = run("users", "link", "admin", "--data-dir", home, "--access-url", url)

    assert (0, True) == (code, out.startswith(f"{url}/join/"))
    assert err.startswith("good once, until ")
    assert 200 == set_password(out.strip(), PASSWORD)
    assert ask("tokens", "create", "again", "--login", "admin", said=PASSWORD + "\n")


def test_a_link_is_for_somebody_who_is_there(home, database):
    nobody = run("users", "link", "zoe", "--data-dir", home)
    empty = run("users", "link", "admin", DATABASE_URL=database)

    assert (1, "") == nobody[:2]
    assert "users: no user is called 'zoe'; the first one is called admin\n" in nobody[2]
    assert "database: the schema lacks " in empty[2]


# looking and measuring


def test_the_doctor_sees_the_daemon(url, home):
    where = ("--data-dir", home, "--listen", urlsplit(url).netloc)

    code, out, err = run("doctor", *where)

    assert (0, "") == (code, err)
    lines = {line[6:20].strip(): line[:6].strip() for line in out.splitlines() if line[:4].strip()}
    assert {"ok", "warn"} >= set(lines.values())
    assert "ok" == lines["daemon"] == lines["schema"] == lines["secret key"] == lines["clock"]
    assert f"runs at {url} and is ready" in out


def test_a_load_run_that_may_cost_money_has_to_be_meant(ask, refused, url):
    elsewhere = ("--type", "openai-compat", "--base-url", "http://127.0.0.1:9/v1")
    ask("providers", "add", "dear", *elsewhere, "--model", "dear-model")

    said = refused("bench", "--url", url, "--chats", "5", "--turns", "2", "--model", "dear-model")
    none = refused("bench", "--url", url, "--model", "none")
    ask("providers", "remove", "dear")

    expected = (
        "bench: it would ask dear-model 15 times, which may cost money; add --force if that is"
        " what you want"
    )
    assert expected == said
    assert none.startswith("bench: there is no model none; there are: ")


def test_rules_of_consent_are_written_tried_listed_and_removed(ask, refused):
    ask("approvals", "set", "execute(git *)=allow")
    ask("approvals", "set", "--deployment", "execute(git push *)=ask")

    listed = ask("approvals", "list")
    tried = ask("approvals", "test", "git log && git push && rm x", "--policy", "ask")

    assert re.search(r"execute\(git \*\)=allow +you", listed)
    assert re.search(r"execute\(git push \*\)=ask +deployment", listed)
    assert re.search(r"git log +runs +execute\(git \*\)=allow \(user\)", tried)
    assert re.search(r"git push +is asked about +execute\(git push \*\)=ask \(deployment\)", tried)
    assert re.search(r"rm x +is asked about +the chat's policy", tried)
    assert "The command is asked about." in tried
    assert "  execute(rm x)=allow" in tried
    trial = json.loads(ask("approvals", "test", "git log", "--json"))
    assert "allow" == trial["decision"]
    ask("approvals", "remove", "execute(git *)")
    ask("approvals", "remove", "--deployment", "execute(git push *)=ask")
    assert not ask("approvals", "list").count("git")
    assert "is no rule" in refused("approvals", "remove", "execute(git *)")
    assert "has no policy" in refused("approvals", "set", "execute(git *)")
    assert "without '&'" in refused("approvals", "set", "execute(git && ls)=allow")
