"""What chats are told of their workspaces, in whole turns of daemons that ask a rehearsal."""

import json
import os

import pytest

from adapters.rehearsal.behaviour import Behaviour, ScriptedCall
from tests.adapters.chats.routes import daemon

pytestmark = pytest.mark.slow
CREATES = ScriptedCall("create_workspace", json.dumps({"template_id": "web"}))
SKILL = "---\nname: deploy\ndescription: How we deploy\n---\nRun it twice."


def a_template(data_dir, **files):
    for path, text in files.items():
        place = data_dir / "templates/web" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def a_daemon(conninfo, data_dir, *calls):
    steps = [
        Behaviour(tool_calls=(call,), tool_rounds=number) for number, call in enumerate(calls, 1)
    ]
    return daemon.a_daemon(
        conninfo,
        Behaviour(script=(*steps, Behaviour(text="done"))),
        PROMPTCORNER_DATA_DIR=str(data_dir),
        PROMPTCORNER_SANDBOX="none",
        PATH=os.environ["PATH"],
    )


def system_of(heard):
    return json.loads(heard.body)["system"]


async def test_a_chat_is_told_of_its_workspace_as_soon_as_it_has_one(fresh, tmp_path):
    a_template(tmp_path, **{"AGENTS.md": "Write tests first.", "skills/deploy/SKILL.md": SKILL})
    async with a_daemon(fresh, tmp_path, CREATES) as running:
        chat = await running.begin("work")
        await running.at_rest(chat)
        before, after = map(str, map(system_of, running.rehearsal.records))
        view = await running.chats.store.reading.view(chat)

    home = tmp_path / f"workspaces/{view.chat.workspace_id}/home"
    assert "workspace-context" not in before
    assert f'<file path="{home}/AGENTS.md">\\nWrite tests first.\\n</file>' in after
    assert "- deploy: How we deploy" in after
