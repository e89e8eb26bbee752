"""What the stories of erasing begin with: chats that have left something in every table."""

import json
from uuid import UUID, uuid4

from tests.adapters.daemon.access_matrix import CHATS
from tests.adapters.edges import eventually
from tests.adapters.requests_of import good


async def upload(asker, edge, text):
    sent = await asker.post(
        f"{CHATS}/files?organization={edge.organization}",
        body=f"a file with {text} in it".encode(),
        headers={
            "content-type": "text/plain",
            "content-disposition": f'attachment; filename="{text}.txt"',
        },
    )
    assert 201 == sent.status, sent.body
    return sent.document["id"]


async def chat_at_rest(asker, edge, text, *, files=(), headers=None):
    """A chat that has said something and waits, and whose title has been made; its id."""
    content = [{"type": "text", "text": f"say {text}"}]
    content += [{"type": "file", "file_id": file} for file in files]
    new = {"organization_id": edge.organization, "content": content, "labels": {"about": text}}
    chat = (await good(asker.post(CHATS, new, headers=headers), 201))["id"]

    async def rests():
        is_waiting = (await good(asker.get(f"{CHATS}/{chat}"), 200))["status"] == "waiting"
        return is_waiting and not edge.chats.background.statistics().running

    await eventually(rests)
    return chat


async def a_workspace(edge, owner, text):
    """A workspace with a file on the disk; its id."""
    id = uuid4()
    folder = edge.chats.lifecycle.workspaces.directory / str(id) / "home"
    folder.mkdir(parents=True)
    (folder / f"{text}.txt").write_text(text)
    await edge.execute(
        "INSERT INTO workspaces (id, owner_id, name, template, memory_mb, file_mb, processes,"
        " seconds) VALUES (%(id)s, %(owner)s, %(name)s, 'empty', 1, 1, 1, 1)",
        {"id": id, "owner": owner.id, "name": text[:60]},
    )
    return id


async def leave_traces(edge, asker, chat, text):
    """Rows of everything that a chat may leave behind and that a short story does not."""
    id, quoted = {"chat": UUID(chat), "text": text}, json.dumps([{"type": "text", "text": text}])
    child = uuid4()
    for sql in (
        "INSERT INTO tool_calls (chat_id, history_version, tool_call_id, name)"
        " VALUES (%(chat)s, 1, %(text)s, 'execute')",
        "INSERT INTO approval_decisions (chat_id, root_id, tool_call_id, tool, verdict, words)"
        " VALUES (%(chat)s, %(chat)s, 'a', 'execute', 'deny', %(text)s)",
        "INSERT INTO side_costs VALUES (%(chat)s, %(text)s, 1, 1, 0)",
        "INSERT INTO spend_days (day, user_id, model_config_id, what, labels, labels_digest,"
        " micros, requests, unpriced) SELECT now()::date, owner_id, gen_random_uuid(), 'title',"
        " labels, md5(labels::text), 1, 1, 0 FROM chats WHERE id = %(chat)s",
        "INSERT INTO debug_runs (id, chat_id, kind, provider, model, first_message)"
        " VALUES (%(chat)s, %(chat)s, 'chat_turn', 'a', 'b', %(text)s)",
        "SELECT file_event(owner_id, 'archived', NULL, 'archived', json_build_object('chats',"
        " json_build_array(json_build_object('id', id, 'title', %(text)s::text))))"
        " FROM chats WHERE id = %(chat)s",
        "INSERT INTO chats (id, owner_id, parent_id, root_id, title, status) SELECT %(child)s,"
        " owner_id, id, id, %(text)s, 'waiting' FROM chats WHERE id = %(chat)s",
        "WITH c AS (UPDATE chats SET snapshot_version = snapshot_version + 1, summary = %(text)s,"
        " history_version = snapshot_version + 1, queue_version = snapshot_version + 1"
        " WHERE id IN (%(chat)s, %(child)s) RETURNING id, owner_id, snapshot_version),"
        " m AS (INSERT INTO messages (chat_id, role, content, visibility, revision)"
        " SELECT id, 'user', %(quoted)s::text::json, 'both', snapshot_version FROM c)"
        " INSERT INTO queued_messages (chat_id, content, position, created_by)"
        " SELECT id, %(quoted)s::text::json, 1, owner_id FROM c WHERE id = %(chat)s",
    ):
        await edge.execute(sql, {**id, "quoted": quoted, "child": child})
    await good(asker.get(f"{CHATS}?q=search:{text}"), 200)  # which gathers its words
    return str(child)
