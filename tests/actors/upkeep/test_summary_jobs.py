"""Once a chat has come to rest, lists are told what came of it; no turn waits for that."""

from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import trio

from actors.chat.turn.ports import Model
from actors.law.change import Change
from actors.law.chat import Chat, ChatError
from actors.law.ids import ChatId
from actors.law.parts.prompt import CallSettings
from actors.law.states import Status
from actors.law.store.ports import Applied
from actors.upkeep.jobs import open_background
from actors.upkeep.summary_jobs import JOB_SECONDS_MAX, AutomaticSummaries, ListedChat
from actors.upkeep.summary_wording import FINISHED, WAITING
from tests.actors.chat.turn.given import answered, history
from tests.actors.law.chats import CHAT, NOW, a_chat, assistant, user
from tests.actors.upkeep.stage import HANGS, NO_CREDIT, NO_TEMPERATURE, Books, Oracle, says

LONG = "The login now leads to the page where it began. " * 5
SAID = (assistant(LONG),)
LABEL, SUMMARY = "Fixed login redirect", "The login is mended. Tests are open."


@dataclass
class Store:
    """The ports SummaryStore, Histories and Models, for one chat."""

    rows: tuple
    oracle: Oracle
    turns_done: int = 1
    turns_summed: int | None = None
    told: list = field(default_factory=list)
    model: object = None
    read_count: int = 0
    books: Books = field(default_factory=Books)

    async def listed_chat(self, chat):
        await trio.lowlevel.checkpoint()
        return ListedChat("Login", self.turns_done, self.turns_summed)

    async def label(self, chat: Chat, label):
        self.told.append(("label", label))
        return True

    async def summarise(self, chat, summary, *, turns):
        self.turns_summed = turns
        self.told.append(("summary", summary))
        return True

    async def history(self, chat):
        self.read_count += 1
        await trio.lowlevel.checkpoint()
        return self.rows

    async def model_for(self, chat):
        if isinstance(self.model, ChatError):
            return self.model
        return Model(self.oracle, None, "me", "anthropic", "m", CallSettings())


@asynccontextmanager
async def a_list(*answers, rows=None, may_be_asked=True, **more):
    store = Store(rows or history(user("fix it"), assistant(LONG)), Oracle(*answers), **more)
    async with open_background() as background:
        summaries = AutomaticSummaries(
            background,
            store,
            histories=store,
            models=store,
            books=store.books,
            may_be_asked=lambda model: may_be_asked,
        )
        yield store, summaries


def ended(before=Status.RUNNING, after=Status.WAITING, said=SAID, **columns):
    stored = a_chat(**columns)
    was = replace(stored, chat=replace(stored.chat, status=before))
    return Applied(Change(was, replace(stored.chat, status=after), (), said), NOW, (), ())


async def told(*answers, change=None, **more):
    async with a_list(*answers, **more) as (store, summaries):
        summaries.note_commit(change or ended())
    return store


async def test_a_turn_is_labelled_and_a_first_one_summed_up(autojump_clock):
    store = await told(says(LABEL), says(SUMMARY))

    assert [("label", LABEL), ("summary", SUMMARY)] == store.told
    assert ["summary", "summary"] == [what for _, what, _ in store.books.booked]


async def test_a_commit_waits_for_nothing(autojump_clock):
    async with a_list(HANGS) as (store, summaries):
        summaries.note_commit(ended())

        assert [] == store.told


async def test_a_model_that_does_not_answer_leaves_a_plain_label_and_the_summary_there_is(
    autojump_clock,
):
    for answers in ([NO_CREDIT], [says("It is done. " * 9)], [says("")]):
        store = await told(*answers, turns_summed=1)

        assert [("label", FINISHED)] == store.told


async def test_no_answer_is_waited_for_for_ever(autojump_clock):
    store = await told(HANGS, change=ended())

    assert [] == store.told  # the process stopped first: its drain is shorter

    async with a_list(HANGS, turns_summed=1) as (store, summaries):
        summaries.note_commit(ended())
        await trio.sleep(100)
        assert ("label", FINISHED) == store.told[0]


async def test_a_model_that_takes_no_temperature_is_asked_without(autojump_clock):
    store = await told(NO_TEMPERATURE, says(LABEL), says(""))

    assert ("label", LABEL) == store.told[0]
    assert [0.0, None] == [prompt.settings.temperature for prompt in store.oracle.prompts[:2]]


async def test_a_turn_that_ended_with_a_question_waits_for_its_user(autojump_clock):
    asked = await told(says(""), change=ended(said=answered("c")), turns_done=2, turns_summed=1)
    silent = await told(says(""), change=ended(said=()), turns_done=2, turns_summed=1)

    assert [("label", WAITING)] == asked.told
    assert [("label", FINISHED)] == silent.told
    assert [] == asked.oracle.prompts + silent.oracle.prompts


async def test_a_chat_that_needs_its_client_says_so_and_one_that_was_cut_says_nothing(
    autojump_clock,
):
    waits = await told(says(LABEL), change=ended(after=Status.REQUIRES_ACTION))
    failed = await told(says(LABEL), change=ended(after=Status.ERROR))
    stopped = await told(says(LABEL), change=ended(before=Status.INTERRUPTING))

    assert [[("label", WAITING)], [("label", None)], [("label", None)]] == [
        store.told for store in (waits, failed, stopped)
    ]
    assert [[], [], []] == [store.oracle.prompts for store in (waits, failed, stopped)]


async def test_a_step_of_a_turn_that_goes_on_asks_for_nothing(autojump_clock):
    assert [] == (await told(says(LABEL), change=ended(after=Status.RUNNING))).told


async def test_a_summary_says_after_how_many_turns_it_was_made(autojump_clock):
    store = await told(says(LABEL), says(SUMMARY), turns_done=6, turns_summed=2)

    assert ("summary", SUMMARY) == store.told[-1]
    assert 6 == store.turns_summed


async def test_a_store_that_does_not_answer_is_not_waited_for_for_ever(autojump_clock):
    store = Store((), Oracle())
    store.shown = store_that_hangs
    async with open_background() as background:
        summaries = AutomaticSummaries(
            background,
            store,
            histories=store,
            models=store,
            books=store.books,
            may_be_asked=lambda model: True,
        )
        summaries.note_commit(ended())
        await trio.sleep(JOB_SECONDS_MAX + 1)

        assert 0 == background.statistics().running


async def store_that_hangs(chat):
    await trio.sleep_forever()


async def test_a_short_chat_is_not_summed_up(autojump_clock):
    store = await told(says(LABEL), rows=history(user("hi"), assistant("hello")))

    assert [("label", LABEL)] == store.told


async def test_a_model_that_cannot_say_anything_is_not_asked(autojump_clock):
    rehearsal = await told(says(LABEL), may_be_asked=False)
    gone = await told(says(LABEL), model=ChatError("gone"))

    assert [("label", FINISHED)] == rehearsal.told == gone.told
    assert [] == rehearsal.oracle.prompts


async def test_a_chat_that_has_gone_on_is_not_summed_up_meanwhile(autojump_clock):
    rows = history(user("fix it"), assistant(LONG), user("and this"))
    moved = (*rows[:-1], replace(rows[-1], revision=51))

    store = await told(says(LABEL), says(SUMMARY), rows=moved)

    assert [("label", LABEL)] == store.told


async def test_between_two_summaries_a_history_is_not_even_read(autojump_clock):
    store = await told(says(LABEL), rows=None, turns_summed=1, turns_done=2)

    assert [("label", LABEL)] == store.told
    assert 0 == store.read_count


async def test_a_child_is_about_what_it_reports_and_asks_no_model(autojump_clock):
    family = {"parent_id": ChatId(CHAT), "said": (assistant("**Found** it.\n\nMore."),)}

    store = await told(says(LABEL), change=ended(**family))
    failed = await told(says(LABEL), change=ended(after=Status.ERROR, **family))

    assert [("summary", "Found it.")] == store.told
    assert [] == store.oracle.prompts + failed.told
