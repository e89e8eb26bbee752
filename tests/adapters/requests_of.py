"""What is asked in each line of who_may.py: good requests, about things that are there."""

import itertools
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode
from uuid import uuid4

import trio

from tests.adapters.daemon.access_matrix import CHATS, line_of
from tests.adapters.edges import ADMIN_TOKEN, Asker, eventually

USERS = "/api/v2/users"
PASSWORD = "battery staple"
NUMBERS = itertools.count(1)
CHATS_AT_ONCE = 8


@dataclass
class Asked:
    """One request: what stands in the places of its path, and what goes with it."""

    places: dict = field(default_factory=dict)
    query: str = ""
    document: object = None
    body: bytes | None = None
    headers: dict = field(default_factory=dict)
    token: str | None = None  # in place of the caller's


@dataclass
class World:
    """Everybody in the table, and what they have."""

    edge: object
    people: dict
    chats: list  # at rest; one for each line
    file: str = ""  # in all of them
    provider: str = ""
    link: str = ""  # by which the file is downloaded

    @property
    def owner(self):
        return self.people["owner"]

    @property
    def admin(self):
        return self.people["admin"]


@dataclass(frozen=True)
class Chat:
    id: str
    message: int


@asynccontextmanager
async def a_world(edge, *, chats):
    people = {"nobody": edge.nobody, "stranger": edge.stranger, "admin": edge.admin}
    people["owner"] = edge.member
    for name in ("former", "sharee"):
        people[name] = await joins(edge, name)
    world = World(edge, people, [])
    sent = await good(world.owner.ask("POST", **upload(world)), 201)
    world.file = sent["id"]
    places = trio.CapacityLimiter(CHATS_AT_ONCE)
    async with trio.open_nursery() as nursery:
        for _ in range(chats):
            nursery.start_soon(add_chat, world, places)
    world.provider = await a_provider(world)
    yield world


async def good(asked, *statuses):
    """What has to work for the test to mean anything."""
    answer = await asked
    assert answer.status in statuses, (answer.status, answer.body)
    return answer.document if answer.body else None


async def joins(edge, name):
    user = await good(edge.admin.post(USERS, {"username": name, "password": PASSWORD}), 201)
    key = await good(edge.admin.post(f"{USERS}/{user['id']}/keys/tokens", {}), 201)
    return Asker(edge.url, user["id"], name, key["key"], edge.nobody.client)


async def add_chat(world, places):
    async with places:
        world.chats.append(await a_chat(world))


async def a_chat(world):
    """At rest, shared with the sharee; with the former one it was."""
    owner, people = world.owner, world.people
    parts = [{"type": "text", "text": "hello"}, {"type": "file", "file_id": world.file}]
    new = {"organization_id": world.edge.organization, "content": parts}
    chat = f"{CHATS}/{(await good(owner.post(CHATS, new), 201))['id']}"
    readers = {str(people[name].id): "read" for name in ("former", "sharee")}
    await good(owner.patch(f"{chat}/acl", {"user_roles": readers}), 204)
    gone = {str(people["former"].id): ""}
    await good(owner.patch(f"{chat}/acl", {"user_roles": gone}), 204)

    async def rests():
        return (await good(owner.get(chat), 200))["status"] == "waiting"

    await eventually(rests)
    found = await good(owner.get(f"{chat}/messages"), 200)
    message = next(m["id"] for m in found["messages"] if m["role"] == "user")
    return Chat(chat.rpartition("/")[2], message)


def upload(world):
    return {
        "path": f"{CHATS}/files?organization={world.edge.organization}",
        "body": b"a file",
        "headers": {
            "content-type": "text/plain",
            "content-disposition": 'attachment; filename="a.txt"',
        },
    }


async def a_provider(world):
    new = {
        "type": "openai-compat",
        "name": f"provider-{next(NUMBERS)}",
        "display_name": "A provider",
        "enabled": True,
        "base_url": "http://127.0.0.1:1/v1",
        "api_keys": ["a key"],
    }
    return (await good(world.admin.post("/api/v2/ai/providers", new), 201))["id"]


async def a_config(world):
    return (await good(world.admin.post(f"{CHATS}/model-configs", new_config(world)), 201))["id"]


def new_config(world):
    model = f"model-{next(NUMBERS)}"
    return {"ai_provider_id": world.provider, "model": model, "context_limit": 4096}


async def a_user(world):
    new = {"username": f"other-{next(NUMBERS)}", "password": PASSWORD}
    return await good(world.admin.post(USERS, new), 201)


async def a_key(world):
    name = f"key-{next(NUMBERS)}"
    made = world.owner.post(f"{USERS}/me/keys/tokens", {"token_name": name})
    return (await good(made, 201))["key"][:10]


async def a_link(world):
    user = await a_user(world)
    link = await good(world.admin.post(f"{USERS}/{user['id']}/one-time-link"), 201)
    return link["url"].rpartition("/")[2]


def skill(name):
    return {"content": f"---\nname: {name}\ndescription: what it is\n---\nDo it."}


async def a_skill(world):
    name = f"skill-{next(NUMBERS)}"
    await good(world.owner.post("/api/experimental/users/me/skills", skill(name)), 201)
    return name


async def about_override(world, asking, caller):
    asking.document = {"spend_limit_micros": 10**9}
    path = f"{USERS}/{world.owner.id}/ai/budget/override"
    await good(world.admin.put(path, asking.document), 200)


async def about_group(world, asking, caller):
    made = world.admin.post(groups_of(world), {"name": f"group-{next(NUMBERS)}"})
    group = asking.places["group"] = (await good(made, 201))["id"]
    asking.document = {"spend_limit_micros": 10**9}
    await good(world.admin.put(f"/api/v2/groups/{group}/ai/budget", asking.document), 200)


async def add_group(world, asking, caller):
    asking.document = {"name": f"group-{next(NUMBERS)}"}


def groups_of(world):
    return f"/api/v2/organizations/{world.edge.organization}/groups"


TEXT = {"content": [{"type": "text", "text": "go on"}]}


async def asked(world, line, caller, chat):
    """A good request for this line. What it uses up is made for it alone."""
    method, path = line
    places = {
        "chat": chat.id,
        "file": world.file,
        "message": str(chat.message),
        "queued": "1",
        "user": str(world.owner.id),
        "organization": world.edge.organization,
        "provider": world.provider,
        "context": "general",
        "template": "empty",
        "call": "a",
        "tool": "execute",
        "host": "github.com",
        **{name: str(uuid4()) for name in ("debugRun", "server", "notification", "rule")},
    }
    asking = Asked(places)
    special = SPECIAL.get(line_of(method, path))
    if special is not None:
        await special(world, asking, caller)
    elif method in ("POST", "PUT", "PATCH"):
        asking.document = DOCUMENTS.get(line_of(method, path), {})
    return asking


C, P, U = CHATS, "/api/v2/ai/providers", "/api/experimental/users"
DOCUMENTS = {
    "POST /api/experimental/mcp/http": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    f"PATCH {C}/{{chat}}": {"title": "called otherwise"},
    f"PUT {C}/{{chat}}/read-status": {"is_read": True},
    "PUT /api/v2/users/{user}/notifications/preferences": {"template_disabled_map": {}},
    f"POST {C}/{{chat}}/messages": TEXT,
    f"PATCH {C}/{{chat}}/messages/{{message}}": TEXT,
    f"PATCH {C}/{{chat}}/queue/{{queued}}": TEXT,
    f"PUT {C}/{{chat}}/queue/order": {"order": [1]},
    f"POST {C}/{{chat}}/tool-results": {"results": [{"tool_call_id": "a", "output": 1}]},
    f"POST {C}/{{chat}}/approvals/{{call}}": {"decision": "allow_once"},
    f"PUT {C}/config/approvals/rules": {"tool": "execute(ls *)", "policy": "allow"},
    f"PUT {C}/approval-rules": {"tool": "execute(ls *)", "policy": "allow"},
    f"POST {C}/config/approvals/test": {"command": "ls"},
    f"PUT {C}/config/system-prompt": {"system_prompt": "be kind"},
    f"PUT {C}/config/plan-mode-instructions": {"plan_mode_instructions": "plan"},
    f"PUT {C}/config/model-override/{{context}}": {"model_config_id": ""},
    f"PUT {C}/config/personal-model-overrides": {"allow_users": True},
    f"PUT {C}/config/user-personal-model-overrides/{{context}}": {
        "mode": "chat_default",
        "model_config_id": "",
    },
    f"PUT {C}/config/computer-use-provider": {"provider": "anthropic"},
    f"PUT {C}/config/debug-logging": {"allow_users": True},
    f"PUT {C}/config/user-debug-logging": {"debug_logging_enabled": True},
    f"PUT {C}/config/advisor": {"max_uses_per_run": 1},
    f"PUT {C}/config/user-prompt": {"custom_prompt": "be brief"},
    f"PUT {C}/config/workspace-ttl": {"workspace_ttl_ms": 0},
    f"PUT {C}/config/retention-days": {"retention_days": 30},
    f"PUT {C}/config/debug-retention-days": {"debug_retention_days": 30},
    f"PUT {C}/config/auto-archive-days": {"auto_archive_days": 0},
    "PUT /api/v2/ai/limits": {"scope": "deployment", "period": "day", "limit_micros": 10**9},
    "PUT /api/experimental/ai/model-prices": {"prices": {}},
    f"PATCH {P}/{{provider}}": {"display_name": "called otherwise"},
    f"PUT {USERS}/{{user}}/ai-provider-keys/{{provider}}": {"api_key": "his own"},
    f"PUT {USERS}/{{user}}/forge-tokens/{{host}}": {"token": "their own"},
    f"PUT {USERS}/{{user}}/profile": {"name": "called otherwise"},
    "POST /api/v2/authcheck": {
        "checks": {"a": {"object": {"resource_type": "chat"}, "action": "create"}}
    },
    f"POST {USERS}/me/stream-ticket": {"path": f"{C}/watch"},
}


async def create_chat(world, asking, caller):
    asking.document = {"organization_id": world.edge.organization, **TEXT}


async def share(world, asking, caller):
    asking.document = {"user_roles": {str(world.people["sharee"].id): "read"}}


async def upload_file(world, asking, caller):
    sent = upload(world)
    asking.query = sent["path"].partition("?")[2]
    asking.body, asking.headers = sent["body"], sent["headers"]


async def download(world, asking, caller):
    if not world.link:  # one for all, since a user may ask for only so many a minute
        asked_for = world.owner.post(f"{CHATS}/files/{asking.places['file']}/download-url")
        world.link = (await good(asked_for, 200))["url"]
    asking.query = world.link.partition("?")[2]


async def a_workspace(world):
    id = str(uuid4())
    await world.edge.execute(
        "INSERT INTO workspaces (id, owner_id, name, template, memory_mb, file_mb, processes,"
        " seconds) VALUES (%(id)s, %(owner)s, %(name)s, 'empty', 1, 1, 1, 1)",
        {"id": id, "owner": str(world.owner.id), "name": id},
    )
    return id


async def about_workspace(world, asking, caller):
    asking.places["workspace"] = await a_workspace(world)


async def by_workspace(world, asking, caller):
    asking.query = f"workspace_ids={uuid4()}"


async def log_in(world, asking, caller):
    user = await a_user(world)
    asking.document = {"username": user["username"], "password": PASSWORD}
    asking.headers = {"content-type": "application/json"}


async def log_out(world, asking, caller):
    """With a token that is of no use to anybody else."""
    who = world.people[caller]
    if caller == "admin":
        asking.token = ADMIN_TOKEN  # is not revoked by that
    elif who.token:
        made = await good(who.post(f"{USERS}/me/keys/tokens", {}), 201)
        asking.token = made["key"]


async def look_at_link(world, asking, caller):
    asking.places["code"] = await a_link(world)


async def take_link(world, asking, caller):
    code = asking.places["code"] = await a_link(world)
    page = await world.people["nobody"].get(f"/join/{code}")
    [value] = re.findall(r'name="csrf" value="(\w+)"', page.body.decode())
    form = {"password": PASSWORD, "again": PASSWORD, "csrf": value}
    asking.body = urlencode(form).encode()
    asking.headers = {"cookie": page.headers["set-cookie"].partition(";")[0]}


async def a_file_of_the_page(world, asking, caller):
    page = await world.people["nobody"].get("/login")
    [digest] = re.findall(r"/web/(\w+)/all.css", page.body.decode())
    asking.places |= {"digest": digest, "asset": "all.css"}


async def log_in_by_form(world, asking, caller):
    page = await world.people["nobody"].get("/login")
    [value] = re.findall(r'name="csrf" value="(\w+)"', page.body.decode())
    form = {"login": (await a_user(world))["username"], "password": PASSWORD, "csrf": value}
    asking.body = urlencode(form).encode()
    asking.headers = {"cookie": page.headers["set-cookie"].partition(";")[0]}


async def send_by_form(world, asking, caller):
    page = await world.people[caller].get(f"/c/{asking.places['chat']}/read?write=1")
    values = re.findall(r'name="csrf" value="(\w+)"', page.body.decode())
    asking.body = urlencode({"text": "go on", "csrf": "".join(values)}).encode()


async def add_user(world, asking, caller):
    asking.document = {"username": f"new-{next(NUMBERS)}"}


async def of_another(world, asking, caller):
    asking.places["user"] = (await a_user(world))["id"]


async def erase_chat(world, asking, caller):
    """One of its own for each who may."""
    if caller in ("owner", "admin"):
        asking.places["chat"] = (await a_chat(world)).id


async def hold(world, asking, caller):
    asking.document = {"reason": "a case"}


async def release(world, asking, caller):
    path = f"{CHATS}/{asking.places['chat']}/legal-hold"
    await good(world.admin.put(path, {"reason": "a case"}), 200)


async def hold_another(world, asking, caller):
    await of_another(world, asking, caller)
    await hold(world, asking, caller)


async def release_another(world, asking, caller):
    await of_another(world, asking, caller)
    path = f"{USERS}/{asking.places['user']}/legal-hold"
    await good(world.admin.put(path, {"reason": "a case"}), 200)


async def keep_house(world, asking, caller):
    asking.document = {"dry_run": True}


async def about_erasure(world, asking, caller):
    id = asking.places["erasure"] = str(uuid4())
    await world.edge.execute(
        "INSERT INTO erasures (id, why, root_id, owner_id, ended_at)"
        " VALUES (%(id)s, 'chat', %(id)s, %(owner)s, now())",
        {"id": id, "owner": str(world.owner.id)},
    )


async def roles_of_another(world, asking, caller):
    await of_another(world, asking, caller)
    asking.document = {"roles": ["owner"]}


async def password_of_owner(world, asking, caller):
    """Who changes his own shows the old one, which the line before has set, if it has."""
    asking.document = {"password": PASSWORD, "old_password": PASSWORD}


async def about_key(world, asking, caller):
    asking.places["key"] = await a_key(world)


async def add_provider(world, asking, caller):
    asking.document = {
        "type": "openai-compat",
        "name": f"provider-{next(NUMBERS)}",
        "enabled": True,
        "base_url": "http://127.0.0.1:1/v1",
        "api_keys": ["a key"],
    }


async def delete_provider(world, asking, caller):
    asking.places["provider"] = await a_provider(world)


async def a_server(world):
    made = world.admin.post(servers_of(world), new_server())
    return (await good(made, 201))["id"]


def servers_of(world):
    return f"/api/experimental/organizations/{world.edge.organization}/mcp-servers"


def new_server():
    slug = f"server-{next(NUMBERS)}"
    return {
        "display_name": slug,
        "slug": slug,
        "transport": "streamable_http",
        "url": "http://127.0.0.1:1/mcp",
        "auth_type": "none",
        "availability": "default_off",
    }


async def add_server(world, asking, caller):
    asking.document = new_server()


async def about_server(world, asking, caller):
    asking.places["server"] = await a_server(world)


async def change_server(world, asking, caller):
    await about_server(world, asking, caller)
    asking.document = {"display_name": "called otherwise"}


async def share_server(world, asking, caller):
    await about_server(world, asking, caller)
    asking.document = {"user_roles": {str(world.people["sharee"].id): "read"}}


async def add_config(world, asking, caller):
    asking.document = new_config(world)


async def about_notice(world, asking, caller):
    found = (await good(world.owner.get("/api/v2/notifications/inbox"), 200))["notifications"]
    asking.places["notification"] = found[0]["id"]
    asking.document = {"is_read": True}


async def add_webhook(world, asking, caller):
    asking.document = {"url": "https://webhooks.invalid/hook"}


def a_webhook(top):
    """Of an owner, or of the deployment: with a delivery, and made for this line alone."""

    async def make(world, asking, caller):
        who = world.admin if top == WEBHOOKS else world.owner
        path = top.replace("{user}", str(world.owner.id))
        await world.edge.execute(
            "DELETE FROM webhooks WHERE (owner_id IS NULL) = %(all)s", {"all": top == WEBHOOKS}
        )
        made = await good(who.post(path, {"url": "https://webhooks.invalid/hook"}), 201)
        hook = asking.places["webhook"] = made["webhook"]["id"]
        tried = await good(who.post(f"{path}/{hook}/test"), 202)
        asking.places["delivery"] = tried["id"]
        asking.document = {"description": "called otherwise"}

    return make


WEBHOOKS, OWN_WEBHOOKS = "/api/v2/webhooks", f"{USERS}/{{user}}/webhooks"
ABOUT_WEBHOOKS = {
    f"{method} {top}/{{webhook}}{rest}": a_webhook(top)
    for top in (WEBHOOKS, OWN_WEBHOOKS)
    for method, rest in (
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/rotate-secret"),
        ("POST", "/test"),
        ("GET", "/deliveries"),
        ("POST", "/deliveries/{delivery}/replay"),
    )
} | {f"POST {top}": add_webhook for top in (WEBHOOKS, OWN_WEBHOOKS)}


async def about_browser(world, asking, caller):
    """A browser of the owner's, which is there whatever the line before has done to it."""
    asking.document = {
        "endpoint": "https://push.invalid/1",
        "auth_key": "BTBZMqHH6r4Tts7J_aSIgg",
        "p256dh_key": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH"
        "6SRpkNtoIAiw4",
    }
    path = f"{USERS}/{world.owner.id}/webpush/subscription"
    await good(world.owner.post(path, asking.document), 204)


async def about_config(world, asking, caller):
    asking.places["modelConfig"] = await a_config(world)


async def change_config(world, asking, caller):
    await about_config(world, asking, caller)
    asking.document = {"display_name": "called otherwise"}


async def set_threshold(world, asking, caller):
    await about_config(world, asking, caller)
    asking.document = {"threshold_percent": 50}


async def about_skill(world, asking, caller):
    asking.places["name"] = await a_skill(world)


async def change_skill(world, asking, caller):
    await about_skill(world, asking, caller)
    asking.document = skill(asking.places["name"])


async def add_skill(world, asking, caller):
    asking.document = skill(f"skill-{next(NUMBERS)}")


W = "/api/v2/workspaces/{workspace}"
S = "/api/v2/organizations/{organization}/mcp-servers"
M = "/api/v2/organizations/{organization}/chats/models"
SPECIAL = {
    "PUT /api/v2/notifications/inbox/{notification}/read-status": about_notice,
    **ABOUT_WEBHOOKS,
    f"GET {USERS}/{{user}}/ai/budget/override": about_override,
    f"PUT {USERS}/{{user}}/ai/budget/override": about_override,
    f"DELETE {USERS}/{{user}}/ai/budget/override": about_override,
    "GET /api/v2/groups/{group}/ai/budget": about_group,
    "PUT /api/v2/groups/{group}/ai/budget": about_group,
    "DELETE /api/v2/groups/{group}/ai/budget": about_group,
    "GET /api/v2/groups/{group}/ai/spend": about_group,
    "GET /api/v2/groups/{group}/members/ai/spend": about_group,
    "GET /api/v2/groups/{group}": about_group,
    "PATCH /api/v2/groups/{group}": about_group,
    "DELETE /api/v2/groups/{group}": about_group,
    "POST /api/v2/organizations/{organization}/groups": add_group,
    f"DELETE {C}/{{chat}}": erase_chat,
    f"PUT {C}/{{chat}}/legal-hold": hold,
    f"DELETE {C}/{{chat}}/legal-hold": release,
    f"PUT {USERS}/{{user}}/legal-hold": hold_another,
    f"DELETE {USERS}/{{user}}/legal-hold": release_another,
    f"GET {USERS}/{{user}}/legal-hold": of_another,
    f"DELETE {USERS}/{{user}}/chat-data": of_another,
    "POST /api/v2/housekeeping": keep_house,
    "GET /api/v2/erasures/{erasure}": about_erasure,
    f"POST {USERS}/{{user}}/webpush/subscription": about_browser,
    f"DELETE {USERS}/{{user}}/webpush/subscription": about_browser,
    f"POST {USERS}/{{user}}/webpush/test": about_browser,
    f"PUT {USERS}/{{user}}/webpush/watching": about_browser,
    f"POST {S}": add_server,
    f"GET {S}/{{server}}": about_server,
    f"PATCH {S}/{{server}}": change_server,
    f"DELETE {S}/{{server}}": about_server,
    f"GET {S}/{{server}}/acl": about_server,
    f"PATCH {S}/{{server}}/acl": share_server,
    f"GET {S}/{{server}}/oauth2/connect": about_server,
    "GET /api/experimental/mcp/servers/{server}/oauth2/callback": about_server,
    f"GET {W}": about_workspace,
    f"GET {W}/files": about_workspace,
    f"GET {W}/terminals": about_workspace,
    f"POST {W}/terminals": about_workspace,
    f"DELETE {W}/terminals/{{terminal}}": about_workspace,
    f"GET {W}/terminals/{{terminal}}/stream": about_workspace,
    f"GET {W}/files/content": about_workspace,
    f"GET {W}/files/archive": about_workspace,
    f"POST {W}/start": about_workspace,
    f"POST {W}/stop": about_workspace,
    f"DELETE {W}": about_workspace,
    f"POST {C}": create_chat,
    f"PATCH {C}/{{chat}}/acl": share,
    f"POST {C}/files": upload_file,
    f"GET {C}/files/{{file}}/download": download,
    f"GET {C}/by-workspace": by_workspace,
    f"POST {USERS}/login": log_in,
    f"POST {USERS}/logout": log_out,
    "GET /join/{code}": look_at_link,
    "GET /web/{digest}/{asset}": a_file_of_the_page,
    "POST /login": log_in_by_form,
    "POST /c/{chat}/read": send_by_form,
    "POST /join/{code}": take_link,
    f"POST {USERS}": add_user,
    f"DELETE {USERS}/{{user}}": of_another,
    f"PUT {USERS}/{{user}}/roles": roles_of_another,
    f"PUT {USERS}/{{user}}/status/suspend": of_another,
    f"PUT {USERS}/{{user}}/status/activate": of_another,
    f"PUT {USERS}/{{user}}/password": password_of_owner,
    f"GET {USERS}/{{user}}/keys/tokens/{{key}}": about_key,
    f"GET {USERS}/{{user}}/keys/{{key}}": about_key,
    f"DELETE {USERS}/{{user}}/keys/{{key}}": about_key,
    f"PUT {USERS}/{{user}}/keys/{{key}}/expire": about_key,
    f"POST {P}": add_provider,
    f"DELETE {P}/{{provider}}": delete_provider,
    f"POST {M}": add_config,
    f"GET {M}/{{modelConfig}}": about_config,
    f"PATCH {M}/{{modelConfig}}": change_config,
    f"DELETE {M}/{{modelConfig}}": about_config,
    f"POST {C}/model-configs": add_config,
    f"PATCH {C}/model-configs/{{modelConfig}}": change_config,
    f"DELETE {C}/model-configs/{{modelConfig}}": about_config,
    f"PUT {C}/config/user-compaction-thresholds/{{modelConfig}}": set_threshold,
    f"DELETE {C}/config/user-compaction-thresholds/{{modelConfig}}": about_config,
    f"POST {U}/{{user}}/skills": add_skill,
    f"GET {U}/{{user}}/skills/{{name}}": about_skill,
    f"PATCH {U}/{{user}}/skills/{{name}}": change_skill,
    f"DELETE {U}/{{user}}/skills/{{name}}": about_skill,
}
