"""What must hold always, and at the end. Whatever does not is told to the world's `blame`.

The checks look at what goes through the ports: each write as it is made, each prompt, each run of
a tool. They compare for themselves and ask nothing of the code that they watch.
"""

from collections import Counter, defaultdict

import trio

from actors.law import requests as ask
from actors.law.chat import Role, Verdict, Visibility
from actors.law.ids import EpisodeKey
from actors.law.parts.message import TextPart, ToolResultPart
from actors.law.states import State, Status, state_of
from actors.law.store.ports import StaleFence
from tests.fakes.watching import shown
from tests.simulation import talk
from tests.simulation.provider import DELEGATING, RULES

VERSIONS = ("snapshot_version", "history_version", "queue_version", "retry_state_version")
OWN = (ask.CommitStep, ask.FinishInterruption)  # bring results of tools with them


class Checks:
    def __init__(self, world):
        self._world = world
        self._blame = world.blame
        self._asked = set()  # previews for which a model was asked
        self._runs = Counter()  # of each call of a tool
        # Chat and history: of each call by which process, in which attempt, and what it came to.
        self._outputs = defaultdict(dict)
        self._journalled_at = {}  # call: when its end was noted
        self._recalled = {}  # process and call: what the journal told it
        self._interrupted_at = {}
        self.interruptions = []  # the chat, and how long it took until it was no more interrupting
        self._talks = {}  # chat: what users have said in it

    # what a process is about to do

    def sending(self, call):
        process = call.process
        if call.name == "beat" and call.args[0] not in process.workers:
            process.workers.append(call.args[0])
        fence = call.kwargs.get("fence")
        if fence is not None and fence.holder.worker in process.has_let_go:
            [_, requests] = call.args
            if not all(isinstance(request, ask.Abandon) for request in requests):
                self._blame(f"{process.name} writes {requests} after it has let go")

    def answered(self, call, answer):
        if isinstance(answer, StaleFence):
            self._world.note(call.process.name, call.name, "is too late")
        if call.name == "begin":
            chat, _ = call.args
            for entry in answer:
                self._recalled[call.process, _call_key(chat, entry.tool_call_id)] = entry.output

    def asking(self, process, chat, history):
        """A model is about to be asked."""
        if process.is_dead:
            return
        key = EpisodeKey(chat.id, chat.history_version, chat.generation_attempt)
        kept = self._world.store.chats[chat.id]
        row = kept.chat
        self._world.note(process.name, "asks", f"{chat.id.int}#{key.history_version}.{key.attempt}")
        if key in self._asked:
            self._blame(f"{key}: a model is asked twice in one attempt")
        self._asked.add(key)
        if row.history_version < key.history_version:
            self._blame(f"{key}: asked before it was so")
        if row.history_version == key.history_version:
            if row.generation_attempt < key.attempt:
                self._blame(f"{key}: asked before the attempt was counted")
            if [m.id for m in history] != [m.id for m in kept.history]:
                self._blame(f"{key}: the prompt is not made from what is stored")

    def running(self, process, chat, call):
        """A tool is about to do something that cannot be undone."""
        if process.is_dead:
            return
        key = _call_key(chat, call.id)
        self._runs[key] += 1
        self._world.note(process.name, "runs", call.name, call.id, "in", chat.id.int)
        if self._runs[key] > 1 and not RULES[call.name].repeatable:
            self._blame(f"{call.name} {key}: run {self._runs[key]} times")
        asks = chat.approval_policy == "ask" and call.name not in DELEGATING
        if asks and not self._is_allowed(chat, call):
            self._blame(f"{call.name} {key}: run, and nobody has allowed it")

    def _is_allowed(self, chat, call):
        """This very call, by somebody who was asked about it; or its tool, for the whole family."""
        family = [k for k in self._world.store.chats.values() if k.chat.root == chat.root]
        decided = [(kept.chat.id, one) for kept in family for one in kept.decided]
        return any(
            one.verdict is Verdict.ALLOW_ALWAYS and one.tool == call.name for _, one in decided
        ) or any(
            id == chat.id and one.tool_call_id == call.id and one.verdict is Verdict.ALLOW_ONCE
            for id, one in decided
        )

    def ran(self, process, chat, call, output):
        if not process.is_dead:
            made = process, chat.generation_attempt, output.result
            self._outputs[chat.id, chat.history_version][call.id] = made

    def journalled(self, key):
        self._journalled_at.setdefault(key, trio.current_time())

    def taking(self, chat, worker):
        """Somebody takes a chat: whoever had it before must not be at it any more."""
        former, world = chat.holder, self._world
        if former is None or world.clock.has_just_leapt:
            return
        process = world.process_of(former.worker)
        if process.is_gone or process.is_frozen or process.thawed_at == trio.current_time():
            return
        if former.runner in process.actors:
            self._blame(f"chat {chat.id.int} is taken while {process.name} is still at it")

    # what has been written

    def written(self, kept, was, queue_was, change, call):
        chat = kept.chat
        self._note(chat, was, call)
        if call.name == "create":
            self._talks[chat.id] = talk.Talk()
        for version in VERSIONS:
            if getattr(chat, version) < getattr(was, version):
                self._blame(f"chat {chat.id.int}: {version} goes back")
        same = chat.history_version == was.history_version
        if same and chat.generation_attempt < was.generation_attempt:
            self._blame(f"chat {chat.id.int}: attempts are counted down")
        if state_of(chat.status, queued=bool(kept.queue), archived=chat.archived) is State.INVALID:
            self._blame(f"chat {chat.id.int}: an invalid state")
        if chat.status is Status.INTERRUPTING and was.status is not Status.INTERRUPTING:
            self._interrupted_at[chat.id] = trio.current_time()
        if was.status is Status.INTERRUPTING and chat.status is not Status.INTERRUPTING:
            seconds = trio.current_time() - self._interrupted_at[chat.id]
            self.interruptions.append((chat.id.int, seconds))
        requests = _requests_of(call)
        if "fence" in call.kwargs:
            self._by_holder(was, call, requests)
        self._talks[chat.id].goes_on(kept, requests)
        for fault in (
            *self._talks[chat.id].faults(kept),
            *talk.faults_in_steps(kept.history),
            *talk.faults_in_summaries(kept.history),
        ):
            self._blame(f"chat {chat.id.int}: {fault}")

    def _note(self, chat, was, call):
        names = "+".join(type(request).__name__ for request in _requests_of(call))
        self._world.note(
            call.process.name,
            call.name,
            names,
            f"chat {chat.id.int}: {was.status.value} -> {chat.status.value}",
            f"{chat.history_version}.{chat.generation_attempt} @{chat.snapshot_version}",
        )

    def _by_holder(self, was, call, requests):
        """Whoever holds a chat writes only while he does, and what watchers were shown."""
        fence, process = call.kwargs["fence"], call.process
        found = [was.holder, was.status, was.history_version]
        if fence is None or [fence.holder, fence.status, fence.history_version] != found:
            self._blame(f"{process.name} writes {requests} behind a fence that has fallen: {found}")
            return
        if fence.attempt not in (None, was.generation_attempt):
            self._blame(f"{process.name} writes {requests} for attempt {fence.attempt}")
        if fence.holder.worker not in process.workers:
            self._blame(f"{process.name} writes as somebody else")
        for request in requests:
            if isinstance(request, ask.CommitStep):
                self._as_shown(process, was, request.messages, whole=True)
            if isinstance(request, ask.FinishInterruption):
                self._as_shown(process, was, request.partials, whole=False)
            if isinstance(request, OWN):
                self._with_results(process, was, request)

    def _as_shown(self, process, was, rows, *, whole):
        """What is stored of an attempt is what those saw who watched it."""
        key = EpisodeKey(was.id, was.history_version, was.generation_attempt)
        episode = process.previews.find(key)
        if episode is None:
            if whole and not self._world.storm:
                self._blame(f"{key}: committed, but nobody was shown anything of it")
            return
        seen = shown(episode)
        visible = [row for row in rows if row.visibility is not Visibility.MODEL]
        text, stored = _text([said.piece for said in seen]), _text(_parts(visible))
        if text != stored:
            self._blame(f"{key}: stored is {stored!r}, shown was {text!r}")
        results = _results([said.piece for said in seen if said.role is Role.TOOL])
        kept = _results(_parts(row for row in rows if row.role is Role.TOOL))
        if whole and results != kept:
            self._blame(f"{key}: stored are {kept}, shown were {results}")

    def _with_results(self, process, was, request):
        """Tools that have come to their end: that is the result, not something made up."""
        rows = request.messages if isinstance(request, ask.CommitStep) else request.partials
        given = dict(_results(_parts(row for row in rows if row.role is Role.TOOL)))
        interrupts = isinstance(request, ask.FinishInterruption)
        episode = EpisodeKey(was.id, was.history_version, was.generation_attempt)
        remembers = process.previews.find(episode) is not None  # whoever lost its lease forgets
        for id, (by, attempt, result) in self._outputs[was.id, was.history_version].items():
            if not (id in given or interrupts):
                continue
            key = _call_key(was, id)
            known = remembers and by is process and attempt == was.generation_attempt
            recalled = self._recalled.get((process, key))
            if recalled is not None:  # of a run after that one, maybe
                result = recalled.result
            noted_at = self._journalled_at.get(key)
            if interrupts and noted_at is not None:
                known |= noted_at < self._interrupted_at[was.id]
            if (known or recalled is not None) and given.get(id) != result:
                self._blame(f"{id} of chat {was.id.int}: came to {result}, {given.get(id)} is kept")

    # the end

    def at_rest(self, *, clients_wait):
        """Why the world is not at rest; None if it is."""
        now = self._world.clock()
        for process in self._world.living():
            if process.is_draining or process.requests_count:
                return f"{process.name} drains, or has {process.requests_count} requests to answer"
            if (why := _busy(process.supervisor.statistics())) is not None:
                return f"{process.name} {why}"
        for kept in self._world.store.chats.values():
            chat = kept.chat
            if clients_wait and self._waits_for_room(chat):
                continue
            if chat.status in (Status.RUNNING, Status.INTERRUPTING):
                return f"chat {chat.id.int} is {chat.status.value}"
            times = [
                chat.requires_action_deadline_at,
                *(asked.until for asked in chat.open_approvals),
            ]
            deadline = min((at for at in times if at is not None), default=now)
            if chat.status is Status.REQUIRES_ACTION and not (clients_wait and deadline > now):
                return f"chat {chat.id.int} waits for a client until {deadline}"
            if chat.status is Status.REQUIRES_ACTION and self._actors_of(chat) != 1:
                return f"chat {chat.id.int} waits for a client, and nobody with it"
            if chat.status in (Status.WAITING, Status.ERROR) and self._actors_of(chat):
                return f"chat {chat.id.int} is {chat.status.value}, and has an actor"
        return None

    def _waits_for_room(self, chat):
        """All places of its kind are taken, by chats that wait for clients as it seems."""
        rooms = [process.supervisor.slots.room() for process in self._world.living()]
        free = [room.at_most and (room.roots if chat.is_root else room.children) for room in rooms]
        held = chat.holder is not None and self._world.store._is_fresh(chat.holder.worker)
        return chat.status is Status.RUNNING and not held and not any(free)

    def nothing_is_left(self):
        """All processes are at rest: actors are those of the chats that wait, on no places."""
        for process in self._world.living():
            numbers = process.supervisor.statistics()
            if numbers.kept_away:
                self._blame(f"{process.name} keeps chats away: {numbers}")
        if found := self.left_over():
            self._blame(found)

    def left_over(self):
        waits = Status.REQUIRES_ACTION
        chats = [kept.chat for kept in self._world.store.chats.values()]
        waiting = sum(chat.status is waits for chat in chats)
        places = aside = actors = 0
        for process in self._world.living():
            numbers = process.supervisor.statistics()
            places += numbers.slots.roots + numbers.slots.children
            aside += numbers.slots.waiting
            actors += len(process.actors)
        if (places, aside, actors) == (0, waiting, waiting):
            return None
        found = f"{aside} of {actors} actors wait, {places} places are taken"
        return f"{waiting} chats wait: {found}"

    def has_stopped(self, process):
        if process.actors:
            self._blame(f"{process.name} has stopped, its actors live on: {process.actors}")

    def all_is_handed_back(self, last):
        """Every process is gone, the `last` of them drained in peace."""
        store = self._world.store
        theirs = {process.workers[-1] for process in last if process.workers}
        chats = [kept.chat for kept in store.chats.values() if kept.chat.holder is not None]
        held = [chat.id.int for chat in chats if chat.holder.worker in theirs]
        if held:
            self._blame(f"chats {held} are held, and everybody has gone")
        for process in last:
            worker = process.workers[-1] if process.workers else None
            if store._is_fresh(worker) and worker not in store.called_back:
                self._blame(f"{process.name} has gone, and keeps its lease")

    def _actors_of(self, chat):
        living = self._world.living()
        return sum(id == chat.id for process in living for id in process.actors.values())


def _busy(numbers):
    """Why a supervisor with these statistics is not at rest; None if it is."""
    if numbers.heartbeat.worker is None:
        return "has no lease"
    if numbers.slots.claimed:
        return "keeps places for senders"
    return "gives chats back" if numbers.settling else None


def _requests_of(call):
    match call.name:
        case "create":
            request, *then = call.args
            return (request, *(then[0] if then else ()))
        case "apply" | "commit" | "wake":
            return tuple(call.args[1])
        case _:
            return ()


def _call_key(chat, id):
    return chat.id, chat.history_version, id


def _parts(rows):
    return [part for row in rows for part in row.parts]


def _text(pieces):
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPart))


def _results(parts):
    """Of tools that do not run at the provider's."""
    results = [part for part in parts if isinstance(part, ToolResultPart)]
    return [(part.id, part.result) for part in results if not part.provider_executed]
