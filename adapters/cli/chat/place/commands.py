"""The commands that begin with a slash, and the lists that keys open."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from adapters.cli.chat import requests
from adapters.cli.chat.deciding import lists
from adapters.cli.chat.deciding.key_table import keys_text
from adapters.cli.chat.deciding.picking import moved_in_order
from adapters.cli.chat.deciding.slash_commands import SlashLine, commands_text
from adapters.cli.chat.place.attaching import clipboard_image, write_export
from adapters.cli.chat.place.desk import Desk, Rewording
from adapters.cli.chat.reading.cards import CallCard, value_of, whole_text
from adapters.cli.chat.reading.exporting import markdown_of
from adapters.cli.chat.screen import cost_text
from adapters.cli.harmless import coloured, harmless, one_line
from promptcorner_client import api
from promptcorner_client.api import ModelSummary
from promptcorner_client.transcript import text_of
from promptcorner_client.wire import Chat, ChatMessage
from runtime.clock import wall

CHATS_MAX = 100  # in the list of /resume; searching finds the others
EXPORT_PAGE = 200  # messages


class DeskCommands:
    """Does what a command says; the commands are in `deciding.slash_commands`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._live = desk.live
        self._front = desk.front
        self._client = desk.live.client
        self.chats: Sequence[Chat] = ()  # as they were listed last, for completion

    async def run(self, line: SlashLine) -> None:
        """Run the command of a line."""
        assert line.command is not None, "a line without a known command is asked about"
        await getattr(self, f"do_{line.command.name}")(line.rest)

    async def do_help(self, rest: str) -> None:
        self._live.note(f"keys\n{keys_text()}\n\ncommands\n{commands_text()}")

    async def do_quit(self, rest: str) -> None:
        self._front.leave()

    async def do_new(self, rest: str) -> None:
        await self._live.leave()
        self._live.note("── a new chat: it begins with your first message", "title")

    async def do_resume(self, rest: str) -> None:
        if rest and (id := _id(rest)) is not None:
            await self._live.resume(id)
            return
        chats = await self._client.request(api.list_chats(rest, limit=CHATS_MAX))
        self.chats = chats
        if not chats:
            self._live.note("no chat was found")
            return
        picked = await self._front.pick(lists.chats_list(chats, wall()))
        if picked is not None:
            await self._live.resume(UUID(picked[1].id))

    async def do_model(self, rest: str) -> None:
        models = await self._client.request(api.models())
        self._live.models = models
        found = [one for one in models if rest and _is_called(one, rest)]
        if len(found) == 1:
            self._live.choose(model=found[0].id)
            return
        shown = lists.models_list(found or models, self._live.facts.model)
        if (picked := await self._front.pick(shown)) is not None:
            self._live.choose(model=UUID(picked[1].id))

    async def do_effort(self, rest: str) -> None:
        wanted = rest.lower()
        if wanted in lists.EFFORTS:
            self._live.choose(effort=wanted)
            return
        name = self._live.facts.model
        model = next((m for m in self._live.models if name in (m.display_name, m.model)), None)
        shown = lists.efforts_list(model, self._live.facts.effort)
        if (picked := await self._front.pick(shown)) is not None:
            self._live.choose(effort=picked[1].id)

    async def do_plan(self, rest: str) -> None:
        is_on = rest.lower() != "off" and (bool(rest) or not self._live.facts.is_planning)
        await self._live.plan(is_on=is_on)
        self._live.note("it plans, and changes nothing" if is_on else "it no longer plans")
        if is_on and rest and rest.lower() != "on":
            await self._desk.send(rest)

    async def do_queue(self, rest: str = "") -> None:
        """Let the user change what waits; the list is read anew after each change."""
        index = 0
        while (chat := self._live.chat) is not None and self._live.seen.queue:
            queue = self._live.seen.queue
            picked = await self._front.pick(lists.queue_list(queue, index))
            if picked is None:
                return
            key, id = picked[0], int(picked[1].id)
            order = [one.id for one in queue]
            index = order.index(id) if id in order else 0
            if key in ("up", "down"):
                moved = moved_in_order(order, id, -1 if key == "up" else 1)
                await self._change_queue(requests.order_queue(chat.id, moved), queue)
                index = moved.index(id)
            elif key == "remove":
                await self._change_queue(api.delete_queued(chat.id, id), queue)
            elif key == "promote":
                await self._client.request(api.promote_queued(chat.id, id))
                return
            else:
                self._desk.rewording = Rewording(id, is_queued=True)
                self._front.put(next(text_of(one.content) for one in queue if one.id == id))
                return
        self._live.note("nothing waits")

    async def _change_queue(self, request: api.ApiRequest[Any], before: object) -> None:
        """Change the queue, and wait a moment until the stream has told of it."""
        await self._client.request(request)
        for _ in range(20):
            if self._live.seen.queue != before:
                return
            await asyncio.sleep(0.05)

    async def do_edit(self, rest: str) -> None:
        await self._desk.edit_earlier(rest)

    async def do_agents(self, rest: str = "") -> None:
        current = self._live.chat
        if current is None:
            return
        root = await self._client.request(api.get_chat(current.root_chat_id))
        if not root.children:
            self._live.note("this chat has no agents")
            return
        picked = await self._front.pick(lists.agents_list(root, current))
        if picked is not None and picked[1].id != str(current.id):
            await self._live.resume(UUID(picked[1].id))

    async def do_open(self, rest: str = "") -> None:
        """Let the user open a call or thoughts; a result that was cut is fetched whole."""
        cards = list(self._live.scrollback.opened)
        live = [*self._live.scrollback.unfinished().calls]
        if not cards and not live:
            self._live.note("there is no call and no thought yet")
            return
        everything = [*cards, *live]
        picked = await self._front.pick(lists.opened_list(everything))
        if picked is None:
            return
        card = everything[int(picked[1].id)]
        if not isinstance(card, CallCard):
            await self._front.page(harmless(card.text))
            return
        if card.result_bytes and self._live.chat is not None:
            card = await self._whole(self._live.chat.id, card)
        await self._front.page(coloured(whole_text(card)))

    async def _whole(self, chat: UUID, card: CallCard) -> CallCard:
        message = await self._client.request(api.message(chat, card.message_id))
        for part in message.content or ():
            if part.type == "tool-result" and part.tool_call_id == card.id:
                return replace(card, result=value_of(part.result), result_bytes=0)
        return card

    async def do_mcp(self, rest: str) -> None:
        organization = (await self._client.request(api.me())).organization_ids[0]
        found = await self._client.request(requests.servers(organization))
        used = set(self._live.chat.mcp_server_ids) if self._live.chat is not None else set()
        lines = []
        for server in found:
            state = "in use" if server.id in used else server.availability.replace("_", " ")
            state = state if server.enabled else "switched off"
            fault = f" · ✗ {server.fault}" if server.fault else ""
            lines.append(one_line(f"  {server.display_name} ({server.slug}): {state}{fault}"))
        self._live.note("\n".join(lines) or "there are no servers of tools")

    async def do_cost(self, rest: str) -> None:
        paid = await self._client.request(api.cost(self._chat))
        self._live.note(cost_text(paid))

    async def do_compact(self, rest: str) -> None:
        await self._client.request(api.compact(self._chat))

    async def do_retry(self, rest: str) -> None:
        more = {"model_config_id": str(self._live.model)} if self._live.model else {}
        await self._client.request(api.retry(self._chat, **more))

    async def do_title(self, rest: str) -> None:
        if rest:
            await self._client.request(api.update_chat(self._chat, title=rest))
            await self._live.refresh()
        else:
            self._live.note("the title comes behind it: /title Rivers of Europe")

    async def do_export(self, rest: str) -> None:
        chat = await self._client.request(api.get_chat(self._chat))
        name = re.sub(r"[^\w]+", "-", chat.title).strip("-").lower()[:60] or str(chat.id)
        text = markdown_of(chat, await self._all_messages(chat.id))
        loop = asyncio.get_running_loop()
        target = await loop.run_in_executor(None, write_export, rest or f"{name}.md", text)
        self._live.note(f"written to {target}")

    async def _all_messages(self, chat: UUID) -> list[ChatMessage]:
        found: list[ChatMessage] = []
        before = 0
        while True:
            page = await self._client.request(
                api.messages(chat, before_id=before, limit=EXPORT_PAGE)
            )
            found += page.messages
            if not page.has_more or not page.messages:
                return sorted(found, key=lambda message: message.id)
            before = min(message.id for message in page.messages)

    async def do_share(self, rest: str) -> None:
        chat = await self._client.request(api.get_chat(self._root))  # agents come with it
        if rest.lower() == "all":
            await self._client.request(requests.let_read(chat.id, group=chat.organization_id))
        elif rest:
            found = await self._client.request(requests.members(chat.organization_id, rest))
            user = next((one for one in found if one.username == rest), None)
            if user is None:
                like = ", ".join(one.username for one in found[:8])
                self._live.note(f"there is no user {rest}" + (f"; like it: {like}" if like else ""))
                return
            await self._client.request(requests.let_read(chat.id, user=user.user_id))
        who = await self._client.request(requests.readers(chat.id))
        names = [str(one.username or one.name) for one in who.users]
        names += [str(one.display_name or one.name or "everyone") for one in who.groups]
        self._live.note("may read it: " + (", ".join(map(one_line, names)) or "only you"))

    async def do_image(self, rest: str = "") -> None:
        image = await clipboard_image(len(self._desk.attachments) + 1)
        self._desk.attachments.append(image)
        self._live.note(
            f"▫ {image.name}, {len(image.content) // 1024} KiB, goes with the next message"
        )
        self._front.changed()

    async def do_vi(self, rest: str) -> None:
        self._live.note("you type as in vi" if self._front.toggle_vi() else "you type as in emacs")

    @property
    def _chat(self) -> UUID:
        assert self._live.chat is not None, "the command needs a chat, and was refused without one"
        return self._live.chat.id

    @property
    def _root(self) -> UUID:
        chat = self._live.chat
        return self._chat if chat is None else chat.root_chat_id

    def values(self, command: str) -> Sequence[tuple[str, str]]:
        """Return what a command may take, for completion."""
        match command:
            case "model":
                return [
                    (m.display_name or m.model, m.model) for m in self._live.models if m.enabled
                ]
            case "effort":
                return [(effort, "") for effort in lists.EFFORTS]
            case "resume":
                return [(str(chat.id), lists.title_of(chat)) for chat in self.chats]
            case "plan":
                return [("off", "no longer plan")]
            case "share":
                return [("all", "everyone of the organization")]
        return ()

    async def learn_chats(self) -> None:
        """List chats, so that their ids can be completed."""
        chats = await self._client.request(api.list_chats(limit=CHATS_MAX))
        self.chats = chats


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _is_called(model: ModelSummary, name: str) -> bool:
    wanted = name.lower()
    names = (str(model.id), model.model.lower(), model.display_name.lower())
    return wanted in names or (len(wanted) > 2 and any(wanted in each for each in names[1:]))
