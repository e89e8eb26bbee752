"""What must hold once a storm is over and everything has come to rest.

Each check yields sentences, one for each thing that does not hold. The rows are read from the
database itself, and compared with what users know they have said.
"""

import json
from collections import Counter

import psycopg
from psycopg.rows import dict_row

from actors.chat.turn.tool_batch import MAY_HAVE_RUN
from tests.e2e.torture.users import answer_of

CHATS = "SELECT id::text, parent_id::text, status, worker_id::text, last_error FROM chats"
MESSAGES = (
    "SELECT chat_id::text AS chat, id, role, content FROM messages"
    " WHERE NOT deleted AND visibility <> 'model' ORDER BY id"
)
QUEUED = "SELECT chat_id::text AS chat, count(*) AS count FROM queued_messages GROUP BY chat_id"
KINDS_MIN = 3  # of strikes, in every storm
REFUSAL = "promptcorner: "  # in words, of a daemon that found its database away as it began


class Stored:
    """All rows of a database at rest."""

    def __init__(self, conninfo):
        with psycopg.connect(conninfo, row_factory=dict_row) as connection:
            self.chats = {row["id"]: row for row in connection.execute(CHATS)}
            self.queued = {row["chat"]: row["count"] for row in connection.execute(QUEUED)}
            self.messages = {}
            for row in connection.execute(MESSAGES):
                self.messages.setdefault(row["chat"], []).append(row)

    def busy(self):
        """The chats that are not settled."""
        return [
            row for row in self.chats.values() if row["status"] != "waiting" or row["worker_id"]
        ]

    def children(self, chat):
        return [row for row in self.chats.values() if row["parent_id"] == chat]

    def of(self, chat, role):
        return [row for row in self.messages.get(chat, []) if row["role"] == role]

    def parts(self, chat, kind):
        rows = self.messages.get(chat, [])
        return [part for row in rows for part in row["content"] if part["type"] == kind]


def faults_of_chats(stored, talks):
    for row in stored.busy():
        yield f"chat {row['id']} is not settled: {row}"
    for row in stored.chats.values():
        if row["last_error"] is not None:
            yield f"chat {row['id']} has an error: {row['last_error']}"
    for chat, count in stored.queued.items():
        yield f"chat {chat}: {count} messages still wait"
    for talk in talks:
        said = [_text(row) for row in stored.of(talk.chat, "user")]
        if said != talk.said:
            yield f"chat {talk.name}, {talk.style}: users said {talk.said}, stored is {said}"
        yield from (f"chat {talk.name}: {fault}" for fault in _faults_of_calls(stored, talk.chat))
        yield from (f"chat {talk.name}: {fault}" for fault in _faults_of_answers(stored, talk))


def _faults_of_calls(stored, chat):
    """Each call has one result."""
    calls = Counter(part["tool_call_id"] for part in stored.parts(chat, "tool-call"))
    results = Counter(part["tool_call_id"] for part in stored.parts(chat, "tool-result"))
    if calls != results:
        yield f"calls {dict(calls - results)} have no result, {dict(results - calls)} too many"


def _faults_of_answers(stored, talk):
    """Where nobody interrupts, each message is answered, whole and before the next one."""
    rows = stored.messages[talk.chat]
    last = rows[-1]
    if talk.style != "interrupt" and last["role"] != "assistant":
        yield f"ends with a message of {last['role']}"
    if talk.style in ("steer", "interrupt"):
        return
    spoken = [row for row in rows if row["role"] == "user" or _is_spoken(row)]
    if len(spoken) != 2 * len(talk.said):
        yield f"{len(talk.said)} messages, {len(spoken) - len(talk.said)} answers"
    for said, answer in zip(spoken[::2], spoken[1::2], strict=False):
        wanted = answer_of(talk.style, _text(said))
        if (said["role"], answer["role"], _text(answer)) != ("user", "assistant", wanted):
            yield f"{_text(said)!r} is answered with {_text(answer)!r}"


def faults_of_tools(stored, talks, ran):
    """`ran`: the marks that tools wrote, one a line. None stands there twice, and what is stored as
    done was done."""
    times = Counter(ran)
    for mark, count in times.items():
        if count > 1:
            yield f"the tool of {mark} ran {count} times"
    for talk in talks:
        if talk.style != "work":
            continue
        for call, result in _pairs(stored, talk.chat):
            mark = json.dumps(call["args"]).partition("echo ")[2].split()[0]
            if "error" not in result:
                if not times[mark]:
                    yield f"the tool of {mark} has a result, but never ran"
            elif result["error"] != MAY_HAVE_RUN:
                yield f"the tool of {mark} came to {result}"


def _pairs(stored, chat):
    results = {part["tool_call_id"]: part["result"] for part in stored.parts(chat, "tool-result")}
    return [
        (part, results.get(part["tool_call_id"], {})) for part in stored.parts(chat, "tool-call")
    ]


def faults_of_families(stored, talks):
    """Each call that spawns has one agent, which did its part once."""
    for talk in talks:
        spawned = [
            result["chat_id"]
            for call, result in _pairs(stored, talk.chat)
            if call["tool_name"] == "spawn_agent"
        ]
        children = sorted(row["id"] for row in stored.children(talk.chat))
        if sorted(spawned) != children:
            yield f"chat {talk.name} was told of agents {spawned}, there are {children}"
        for child in children:
            roles = [row["role"] for row in stored.messages[child]]
            if roles != ["user", "assistant"]:
                yield f"agent {child} of chat {talk.name}: {roles}"


def faults_of_watchers(shown, talks):
    """`shown`: what the API says of each chat. It is what the watcher has, over all connections."""
    for talk in talks:
        state = talk.watcher.state
        if state.messages != talk.watcher.told_of(shown[talk.chat].values()):
            known, wanted = sorted(state.messages), sorted(shown[talk.chat])
            yield f"the watcher of chat {talk.name} has messages {known}, there are {wanted}"
        if (state.status, state.parts, state.queue) != ("waiting", [], []):
            yield f"the watcher of chat {talk.name} sees {state.status}, {state.parts}"


def faults_of_logs(replicas):
    """Nothing is logged as an error, and what is not a log entry is a refusal to start."""
    for replica in replicas:
        for life in replica.lives:
            yield from (f"{life.log.name}: {fault}" for fault in _faults_of_log(life))


def _faults_of_log(life):
    for line in life.text.splitlines():
        if not line.startswith("{"):
            if not (life.is_refused and line.startswith(REFUSAL)):
                yield line
            continue
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # it was killed while it wrote
        if entry["level"] in ("error", "critical"):
            yield line
    if life.exit_code:
        yield f"told to stop, it ended with {life.exit_code}"


def lacks_of_storms(storm, talks, ran):
    """What has not happened yet: a storm in which nothing happened proves nothing."""
    if len(storm.kinds) < KINDS_MIN:
        yield f"only {sorted(storm.kinds)} happened"
    if not ran or sum(len(talk.said) for talk in talks) < 2 * len(talks):
        yield "hardly anything was said or done"
    if sum(talk.watcher.came for talk in talks) <= len(talks):
        yield "no watcher had to come back"


def faults_of_storms(storm, talks, requests, ran):
    yield from lacks_of_storms(storm, talks, ran)
    yield from (f"a request was answered with 500: {text}" for text in requests.crashes)


def _is_spoken(row):
    return row["role"] == "assistant" and all(p["type"] != "tool-call" for p in row["content"])


def _text(row):
    return "".join(part["text"] for part in row["content"] if part["type"] == "text")
