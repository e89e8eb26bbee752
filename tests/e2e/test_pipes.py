"""`promptcorner chat -m` and `promptcorner watch`, as scripts use them beside a real daemon."""

import contextlib
import json
import os
import signal
import subprocess
from pathlib import Path

import jsonschema
import pytest

from tests.e2e.daemons import a_daemon, command, environment, run
from tests.e2e.processes import belonging_to, eventually
from tests.e2e.providers import a_provider
from tests.folders import a_folder, in_memory
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

SCHEMA = Path(__file__).parents[2] / "docs/chat-records.schema.json"
LOOKS = "[[tool-calls: list_templates:{}]] [[text: looked]] look"
LONG = "[[deltas: 10000]] [[delta-ms: 30]] go on"
RIVERS = {"type": "object", "required": ["rivers"], "additionalProperties": False}
RIVERS["properties"] = {"rivers": {"type": "array", "items": {"type": "string"}, "minItems": 1}}


@pytest.fixture(scope="module")
def corner():
    """A daemon, its model, and the environment of a command on its machine."""
    with a_folder(in_memory()) as top:
        home = top / "home"
        quick = {
            "PROMPTCORNER_DRAIN_SECONDS": "1",
            "PROMPTCORNER_APPROVAL_RULES": "list_templates=ask",
        }
        with a_provider() as provider, a_daemon(home, **quick, **provider.settings) as daemon:
            url = "http://" + daemon.wait_ready()["listen"]
            here = {"PROMPTCORNER_URL": url, "PROMPTCORNER_DATA_DIR": str(home)}
            yield provider, here
            assert 0 == daemon.stop()
        eventually(lambda: not belonging_to(top), "every process of the daemon is gone")


@pytest.fixture
def here(corner):
    return corner[1]


@pytest.fixture
def model(corner):
    """The model; what a test has it say next is forgotten behind it."""
    yield corner[0]
    corner[0].behave()


def records_of(out):
    """The records in an output, each as the schema has it."""
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    found = [json.loads(line) for line in out.splitlines()]
    for each in found:
        validator.validate(each)
    return found


@contextlib.contextmanager
def running(here, *words, **how):
    """A command whose output is read while it runs."""
    words, more = command(*words)
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, env=environment(**here), text=True, **pipes, **more) as process:
        try:
            yield process
        finally:
            process.kill()


def record_where(process, fits):
    """Read records until one fits; return it."""
    for line in process.stdout:
        if fits(record := json.loads(line)):
            return record
    raise AssertionError(process.stderr.read())


def chat_of(here, text="[[text: here]] hello"):
    """A new chat that has answered."""
    _, out, _ = run("chat", "-m", text, "--json", **here)
    return records_of(out)[-1]["chat_id"]


def test_a_pipe_gets_the_answer_and_nothing_else(here):
    done = run("chat", "-m", "[[text: just this]] hello", **here)
    assert (0, "just this\n", "") == done

    done = run("chat", said="[[text: from a pipe]] hello", **here)
    assert (0, "from a pipe\n", "") == done


def test_only_the_last_answer_is_the_answer(here):
    code, out, err = run("chat", "--approve", "allow", "-m", f"[[preamble: 4]] {LOOKS}", **here)

    assert (0, "looked\n") == (code, out)
    assert "⚙ list_templates" in err
    assert "✓ list_templates" in err


def test_standard_input_stands_behind_the_message_or_beside_it_as_a_file(here, model):
    chat = chat_of(here)
    run("chat", chat, "-m", "look at this", said="a line of it", **here)
    asked = json.dumps([request["body"] for request in model.requests(chat)])
    assert "look at this\n\na line of it" in asked.replace("\\n", "\n")

    code, out, err = run("chat", chat, "-m", "all of it", "--json", said="word " * 40_000, **here)
    [sent] = [each for each in records_of(out) if each.get("role") == "user"]
    assert (0, "") == (code, err)
    assert ["stdin.txt"] == sent["files"]


def test_a_failure_has_its_exit_code_and_says_nothing_on_standard_output(here):
    code, out, err = run("chat", "-m", "[[fault: 401]] hello", **here)

    assert (1, "") == (code, out)
    assert err.startswith("✗")


@pytest.mark.parametrize(("approve", "seen"), [("allow", "✓"), ("deny", "✗")])
def test_a_flag_says_beforehand_what_becomes_of_calls(here, approve, seen):
    code, out, err = run("chat", "--approve", approve, "-m", LOOKS, **here)

    assert (0, "looked\n") == (code, out)
    assert f"{seen} list_templates" in err


def test_a_call_that_needs_a_person_ends_the_command_and_says_how_to_go_on(here):
    code, out, err = run("chat", "-m", LOOKS, "--json", **here)
    *_, needs, end = records_of(out)

    assert (3, "") == (code, err)
    assert ("needs", "consent", "list_templates") == (
        needs["type"],
        needs["why"],
        needs["calls"][0]["tool"],
    )
    assert ("needs_person", 3, "consent") == (end["outcome"], end["exit_code"], end["needs"])

    code, out, err = run("chat", "-m", LOOKS, **here)
    assert (3, "") == (code, out)
    assert "waits for a person's consent; go on with: promptcorner chat " in err


def test_a_turn_is_told_as_records_that_fit_the_schema(here):
    words = "[[tool-calls: list_templates:{}]] [[reasoning: 2]] [[text: looked]] look"
    code, out, err = run("chat", "--approve", "allow", "-m", words, "--json", **here)

    found = records_of(out)
    types = [each["type"] for each in found]
    end = found[-1]
    assert (0, "") == (code, err)
    assert ["begin", "end"] == [types[0], types[-1]]
    assert {"message", "call", "result", "text", "reasoning", "status"} <= set(types)
    assert 1 == found[0]["version"]
    assert ("done", "looked") == (end["outcome"], end["answer"])
    assert end["output_tokens"] > 0


def test_what_a_chat_has_said_before_is_not_told_again(here):
    chat = chat_of(here, "[[text: the first]] hello")

    code, out, _ = run("chat", chat, "-m", "[[text: the second]] and now", "--json", **here)

    texts = [each["text"] for each in records_of(out) if each["type"] == "message"]
    assert (0, ["[[text: the second]] and now", "the second"]) == (code, texts)


def test_an_answer_that_does_not_fit_is_corrected(here, model, tmp_path):
    (tmp_path / "rivers.json").write_text(json.dumps(RIVERS))
    answers = ["Rhine, Elbe", '{"rivers": []}', '```json\n{"rivers": ["Rhine"]}\n```']
    model.behave(script=[{"text": answer} for answer in answers])

    words = ["-m", "Name a river.", "--output-schema", tmp_path / "rivers.json"]
    code, out, _ = run("chat", *words, **here)

    assert (0, {"rivers": ["Rhine"]}) == (code, json.loads(out))


def test_an_answer_that_never_fits_has_an_exit_code_of_its_own(here, tmp_path):
    (tmp_path / "rivers.json").write_text(json.dumps(RIVERS))
    words = ["-m", "[[text: no]] Name one.", "--output-schema", tmp_path / "rivers.json"]

    code, out, _ = run("chat", *words, "--json", **here)
    end = records_of(out)[-1]
    assert (5, "schema_not_met", 3) == (code, end["outcome"], end["corrections"])

    code, out, err = run("chat", *words, **here)
    assert (5, "") == (code, out)
    assert "✗ the answer does not fit the schema" in err


def test_a_schema_that_no_answer_can_fit_is_not_asked_for_again(here, tmp_path):
    (tmp_path / "ring.json").write_text('{"$ref": "#"}')
    (tmp_path / "other.json").write_text('{"$ref": "http://127.0.0.1:1/other.json"}')
    words = ["-m", "[[text: {}]] Name one.", "--json", "--output-schema"]

    code, out, _ = run("chat", *words, tmp_path / "ring.json", **here)
    refused, nothing, err = run("chat", *words, tmp_path / "other.json", **here)

    end = records_of(out)[-1]
    assert (5, "schema_not_met", 0) == (code, end["outcome"], end["corrections"])
    assert "the schema cannot be applied to it" in end["error"]["detail"]
    assert (1, "") == (refused, nothing)
    assert "schemas elsewhere are not fetched" in err


def test_ctrl_c_interrupts_the_turn_and_keeps_what_there_is(here):
    with running(here, "chat", "-m", LONG, "--json") as process:
        record_where(process, lambda record: record["type"] == "text")
        process.send_signal(signal.SIGINT)
        end = record_where(process, lambda record: record["type"] == "end")

        assert 130 == process.wait(PATIENCE_SECONDS)
    assert "interrupted" == end["outcome"]
    assert end["answer"]


def test_an_output_that_nobody_reads_ends_the_command_and_not_the_chat(here):
    with running(here, "chat", "-m", LONG, "--json") as process:
        begin = record_where(process, lambda record: record["type"] == "begin")
        process.stdout.close()
        assert 141 == process.wait(PATIENCE_SECONDS)

    with running(here, "watch", begin["chat_id"], "--json") as process:
        record_where(process, lambda record: record["type"] == "text")


@pytest.mark.parametrize(
    ("settings", "code", "says"),
    [
        ({"PROMPTCORNER_TOKEN": "wrong"}, 1, "promptcorner: token: the daemon does not know it"),
        ({"PROMPTCORNER_DATA_DIR": "/nonexistent"}, 1, "promptcorner: token: none is set"),
        ({"PROMPTCORNER_URL": "http://127.0.0.1:1"}, 4, "promptcorner: chat: http://127.0.0.1:1"),
    ],
    ids=["a wrong token", "no token", "no daemon"],
)
def test_a_script_that_cannot_get_in_is_told_why(here, settings, code, says):
    ended = run("chat", "-m", "hello", **{**here, **settings})

    assert (code, "", 1) == (ended[0], ended[1], ended[2].count("\n"))
    assert ended[2].startswith(says)
    assert ("start it with `promptcorner serve`, or name another" in ended[2]) == (code == 4)
    assert "running there?" not in ended[2]


def test_a_chat_is_watched_until_it_rests(here):
    chat = chat_of(here)
    with running(here, "watch", chat, "--json", "--until-idle", "--after", "0") as process:
        found = records_of(process.stdout.read())
        assert 0 == process.wait(PATIENCE_SECONDS)
    assert ["begin", "end"] == [found[0]["type"], found[-1]["type"]]
    assert "here" in [each.get("text") for each in found]

    code, out, err = run("watch", chat, "--until-idle", **here)
    assert (0, "", "") == (code, out, err)


def test_a_watcher_leaves_by_ctrl_c_and_the_chat_goes_on(here):
    with running(here, "chat", "-m", LONG, "--json") as talking:
        chat = record_where(talking, lambda record: record["type"] == "begin")["chat_id"]
        with running(here, "watch", chat, "--json") as watching:
            record_where(watching, lambda record: record["type"] == "text")
            watching.send_signal(signal.SIGINT)
            assert 130 == watching.wait(PATIENCE_SECONDS)
        record_where(talking, lambda record: record["type"] == "text")


def test_a_watcher_survives_a_daemon_that_is_killed(corner):
    provider, _ = corner
    with a_folder(in_memory()) as top:
        home = top / "home"
        with a_daemon(home, **provider.settings) as daemon:
            listen = daemon.wait_ready()["listen"]
            here = {"PROMPTCORNER_URL": f"http://{listen}", "PROMPTCORNER_DATA_DIR": str(home)}
            chat = chat_of(here)
            with running(here, "watch", chat, "--json") as process:
                record_where(process, lambda record: record["type"] == "status")
                os.kill(daemon.process.pid, signal.SIGKILL)
                daemon.process.wait()
                with a_daemon(home, listen=listen, **provider.settings) as other:
                    other.wait_ready()
                    run("chat", chat, "-m", "[[text: still here]] and now", **here)
                    record_where(process, lambda record: record.get("text") == "still here")
                    process.send_signal(signal.SIGINT)
                    assert 130 == process.wait(PATIENCE_SECONDS)
                    other.stop()
