"""What users, operators and fate do: it is asked of a process that serves, or done to one."""

from functools import partial
from uuid import UUID

import trio

from actors.law import requests as ask
from actors.law.chat import Body, Role, UserMessage, Verdict
from actors.law.closing import unanswered_dynamic_calls
from actors.law.ids import MessageId, QueuedId, UserId
from actors.law.parts.message import TextPart
from actors.law.states import Status
from actors.law.store.ports import Applied
from actors.supervisor.api import hand_over
from adapters.access.changes import ChatSender
from runtime.clock import now
from tests.simulation import disks
from tests.simulation.line import Away
from tests.simulation.process import start_process
from tests.simulation.provider import CLIENT_TOOLS
from tests.simulation.world import LEASE_SECONDS

ANN = UserId(UUID(int=1))
PUTS_TO_WORK = (ask.SendMessage, ask.EditMessage, ask.RequestCompaction, ask.RetryTurn)
CHATS_MAX = 6
PROCESSES_MAX = 3


class Deeds:
    """Each is asked of a process that serves, as clients do, or done to one, as fate does."""

    def __init__(self, world):
        self._world = world
        self._rng = world.rng
        rough = (
            {}
            if not world.storm
            else {
                self._kill: 2,
                self._freeze: 3,
                self._cut: 3,
                self._leap: 0.5,
                self._drain: 2,
            }
        )
        self._deeds = {
            self._create: 8, self._send: 24, self._interrupt: 8, self._answer: 10, self._decide: 10,
            self._edit: 4, self._promote: 4, self._delete: 3, self._reword: 3, self._reorder: 3,
            self._archive: 4, self._compact: 6, self._retry: 4, self._start: 3, **rough,
            **{getattr(self, deed): often for deed, often in world.life.hits.items()},
        }  # fmt: skip

    def one(self):
        [deed] = self._rng.choices(list(self._deeds), list(self._deeds.values()))
        deed()

    # what users do

    def _create(self):
        world, chats = self._world, self._world.store.chats
        if len(chats) >= CHATS_MAX:
            return self._send()
        roots = [kept.chat.id for kept in chats.values() if kept.chat.is_root]
        parent = self._rng.choice(roots) if roots and world.chance(0.3) else None
        tools = tuple(map(ask.DynamicTool, CLIENT_TOOLS)) if world.chance(0.6) else ()
        asks = parent is None and world.chance(0.4)
        policy = world.store.chats[parent].chat.approval_policy if parent else "ask" * asks
        new = ask.NewChat(
            world.new_chat_id(),
            ANN,
            parent_id=parent,
            root_id=parent,
            dynamic_tools=tools,
            approval_policy=policy,
        )
        message = Body(Role.USER, self._message().parts, created_by=ANN)
        return self._serve(create, ask.CreateChat(new, (message,)))

    def _send(self):
        busy = self._rng.choice(
            [ask.BusyBehaviour.QUEUE, ask.BusyBehaviour.INTERRUPT, ask.BusyBehaviour.STEER]
        )
        self._ask(lambda _: ask.SendMessage(self._message(), busy))

    def _interrupt(self):
        self._ask(lambda _: ask.Interrupt(), Status.RUNNING, Status.REQUIRES_ACTION)

    def _answer(self):
        """Rightly, or not; in time, or not."""

        def answer(kept):
            calls = unanswered_dynamic_calls(self._world.store._locked(kept.chat.id))
            ids = [call.id for call in calls]
            if self._world.chance(0.2):
                ids = self._rng.choice([ids[1:], [*ids, "nobody's"], [*ids, *ids[:1]]])
            output = "{" if self._world.chance(0.1) else '{"yes":1}'
            results = tuple(ask.DynamicResult(id, output, self._world.chance(0.1)) for id in ids)
            return ask.CompleteRequiresAction(results, ANN)

        self._ask(answer, Status.REQUIRES_ACTION)

    def _decide(self):
        """What somebody is asked, or is asked no more."""

        def decide(kept):
            ids = [approval.tool_call_id for approval in kept.chat.approvals]
            id = self._rng.choice([*ids, "nobody's"])
            return ask.DecideApproval(id, self._rng.choice(list(Verdict)), ANN)

        self._ask(decide, Status.REQUIRES_ACTION)

    def _edit(self):
        def edit(kept):
            ids = [m.id for m in kept.history if m.body.role is Role.USER and not m.body.compressed]
            return ask.EditMessage(MessageId(self._rng.choice(ids)), self._message())

        self._ask(edit)

    def _promote(self):
        self._ask_queue(lambda ids: ask.PromoteQueued(self._rng.choice(ids)))

    def _delete(self):
        self._ask_queue(lambda ids: ask.DeleteQueued(self._rng.choice(ids)))

    def _reword(self):
        self._ask_queue(lambda ids: ask.EditQueued(self._rng.choice(ids), self._message()))

    def _reorder(self):
        self._ask_queue(lambda ids: ask.ReorderQueued(tuple(self._rng.sample(ids, len(ids)))))

    def _archive(self):
        roots = [kept.chat for kept in self._world.store.chats.values() if kept.chat.is_root]
        if roots:
            chat = self._rng.choice(roots)
            self._serve(archive, chat.id, not chat.archived)

    def _compact(self):
        self._ask(lambda _: ask.RequestCompaction(), Status.WAITING, Status.ERROR)

    def _retry(self):
        self._ask(lambda _: ask.RetryTurn(), Status.ERROR, Status.RUNNING)

    def _ask_queue(self, make):
        def request(kept):
            ids = [QueuedId(row.id) for row in kept.queue]
            return make(ids) if ids else None

        self._ask(request)

    def _ask(self, make, *statuses):
        """Ask this of a chat, one in such a status if there is any."""
        chats = list(self._world.store.chats.values())
        fit = [kept for kept in chats if kept.chat.status in statuses]
        fit = fit if fit and self._world.chance(0.9) else chats
        if fit:
            kept = self._rng.choice(fit)
            request = make(kept)
            if request is not None:
                self._serve(apply, kept.chat, request)

    def _message(self):
        return said(self._world)

    def _serve(self, do, *args):
        """A client is connected to one of the processes."""
        serving = [process for process in self._world.living() if process.is_serving]
        if serving:
            process = self._rng.choice(serving)
            process.requests_count += 1
            process.nursery.start_soon(served, process, partial(do, process, *args))

    # what operators and fate do

    def _start(self):
        if len(self._world.living()) < PROCESSES_MAX:
            start_process(self._world)

    def _drain(self):
        self._hit("is told to stop", lambda process: process.drain())

    def _kill(self):
        self._hit("is killed", lambda process: process.kill())

    def _freeze(self):
        def freeze(process):
            if not process.is_frozen:
                process.freeze()
                self._after(LEASE_SECONDS * self._rng.choice([0.2, 1.0, 1.5, 3.0]), process.thaw)

        self._hit("freezes", freeze)

    def _cut(self):
        def cut(process):
            self._rng.choice([process.cut, process.stick])()
            self._after(LEASE_SECONDS * self._rng.choice([0.1, 0.5, 1.0, 2.0]), process.heal)

        self._hit("loses its store", cut)

    def _leap(self):
        self._world.note("the clock of the store leaps")
        self._world.clock.leap(self._rng.random() * 2 * LEASE_SECONDS)

    def _hang(self):
        """A disk that some process has used."""
        there = [disk for process in self._world.living() for disk in process.disks.values()]
        if there:
            disk = self._rng.choice(there)
            if not disk.is_hung:
                self._world.note("a disk hangs", disk.real.name)
                disk.hang()
                self._after(self._rng.uniform(*disks.HANGS_SECONDS), disk.mend)

    def _hit(self, what, strike):
        living = self._world.living()
        if living:
            process = self._rng.choice(living)
            self._world.note(process.name, what)
            strike(process)

    def _after(self, seconds, do):
        async def wait():
            await trio.sleep(seconds)
            do()

        self._world.nursery.start_soon(wait)


def said(world):
    """A message; no two of a life are the same."""
    return UserMessage((TextPart(f"said {next(world.texts)}"),), ANN)


async def served(process, request):
    """One request of a client; it gets an answer, or none."""
    try:
        answer = await request()
    except Away as error:
        answer = error
    finally:
        process.requests_count -= 1
    if not isinstance(answer, Applied | tuple):
        process.world.note(process.name, "answers", answer)


async def apply(process, chat, request):
    """What puts a chat to work takes it up too, if nobody holds it and there is a place."""
    if not isinstance(request, PUTS_TO_WORK):
        return await process.line.apply(chat.id, [request])
    sender = ChatSender(process.line, process.supervisor, histories=process.histories)
    resting = sender.at_rest(chat.id, ANN) if isinstance(request, ask.SendMessage) else None
    if resting is not None and (woken := await sender.wake(resting, [request])) is not None:
        return woken
    write = partial(process.line.apply, chat.id)
    return await claiming(process, chat.is_root, lambda more: write([request, *more]))


async def archive(process, chat, archived):
    return await process.line.archive_family(chat, archived=archived)


async def create(process, request):
    is_root = request.chat.parent_id is None
    return await claiming(process, is_root, lambda more: process.line.create(request, more))


async def claiming(process, is_root, write):
    """As a sender does it: the chat is his own process's at once."""
    slots = process.supervisor.slots
    claim = slots.claim(is_root=is_root, now=now())
    if claim is None:
        return await write([])
    applied = await write(claim.requests)
    if isinstance(applied, Applied) and applied.chat.holder == claim.holder:
        hand_over(process.supervisor.address, applied.stored)
    else:
        slots.release(claim)
    return applied
