"""Stored rows, files and tools as the prompt for a model."""

import base64
import logging
from uuid import UUID

import pytest
import trio

from actors.chat.turn.ports import Model
from actors.law.chat import Body, ChatError, Message, Role, Visibility
from actors.law.ids import ChatId, FileId
from actors.law.parts.message import FilePart, JsonText, ReasoningPart, TextPart, ToolResultPart
from actors.law.parts.prompt import (
    AssistantOutput,
    CallSettings,
    ToolDefinition,
    UserInput,
    WebSearch,
)
from actors.law.parts.vendors import ANTHROPIC, AZURE, OPENAI, RESPONSES_RULES
from actors.prompts.converting import StoredFile
from actors.prompts.growing import GrowingPrompt
from actors.prompts.selecting import Target
from adapters.models.prompting import (
    PromptCache,
    Prompting,
    PromptingStatistics,
    TurnContext,
)
from tests.actors.law.chats import ANN, CHAT, NOW, a_chat, assistant, call, system, user
from tests.effort import counted

FAMILY = ChatId(UUID(int=78))
IMAGE, OTHER = FileId(UUID(int=1)), FileId(UUID(int=2))


class Shelf:
    """The files that there are, and which were asked for."""

    def __init__(self, files=()):
        self.files = dict(files)
        self.wanted = []

    async def read(self, wanted):
        await trio.lowlevel.checkpoint()
        self.wanted.append(wanted)
        return {id: self.files[id] for id in wanted if id in self.files}


class Surroundings:
    """Everything was said by one provider; the words are as given."""

    def __init__(self, *words):
        self.words = words

    async def turn_context(self, chat):
        await trio.lowlevel.checkpoint()
        return TurnContext(self.words, lambda id: "me")


def a_model(vendor=ANTHROPIC, **more):
    more = {"rules": vendor.rules} | more
    return Model(None, None, "me", vendor.type, "model-1", CallSettings(top_k=7), **more)


def history_of(*bodies):
    return [Message(id, 1, NOW, False, each) for id, each in enumerate(bodies, 1)]


async def prompt_of(*bodies, model=None, tools=(), files=None, chat=None, words=()):
    prompting = Prompting(Surroundings(*words), files or Shelf())
    chat = chat or a_chat().chat
    return await prompting.prompt_for(chat, history_of(*bodies), model or a_model(), tools)


async def test_it_is_what_was_said_and_how_the_model_is_called():
    tool = ToolDefinition("look", "", JsonText("{}"))
    prompt = await prompt_of(
        system("be kind", visibility=Visibility.MODEL),
        user("hello"),
        assistant("hi"),
        user("again"),
        model=a_model(provider_tools=(WebSearch(),)),
        tools=[tool],
    )

    assert ("model-1", ("be kind",)) == (prompt.model, prompt.system)
    assert (
        UserInput((TextPart("hello"),)),
        AssistantOutput((TextPart("hi"),)),
        UserInput((TextPart("again"),)),
    ) == prompt.messages
    assert ((tool,), (WebSearch(),)) == (prompt.tools, prompt.provider_tools)
    assert CallSettings(top_k=7) == prompt.settings


async def test_a_chat_that_plans_is_not_given_the_search_of_its_provider():
    model = a_model(provider_tools=(WebSearch(),))

    prompt = await prompt_of(user("hello"), model=model, chat=a_chat(plan_mode="plan").chat)

    assert () == prompt.provider_tools


async def test_files_that_are_there_are_sent_along():
    png = StoredFile("image/png", "a.png", b"\x89PNG")
    shelf = Shelf({IMAGE: png})

    prompt = await prompt_of(user(FilePart("image/png", file_id=IMAGE)), files=shelf)

    data = base64.b64encode(png.data).decode()
    assert (FilePart("image/png", "a.png", data=data),) == prompt.messages[0].parts


async def test_all_files_of_a_history_are_read_at_once_and_none_are_not_read_at_all():
    shelf = Shelf()
    image, other = FilePart("image/png", file_id=IMAGE), FilePart("image/png", file_id=OTHER)

    await prompt_of(user(image), user(other, image), files=shelf)
    await prompt_of(user("hello"), files=shelf)

    assert [{IMAGE, OTHER}] == shelf.wanted


async def test_a_file_that_is_gone_is_told_to_the_model():
    prompt = await prompt_of(user(FilePart("image/png", file_id=IMAGE)))

    [said] = prompt.messages[0].parts
    assert "no longer available" in said.text


@pytest.mark.parametrize(
    ("model", "inlined"),
    [
        (a_model(OPENAI, rules=RESPONSES_RULES), True),
        (a_model(OPENAI), False),
        (a_model(AZURE, rules=RESPONSES_RULES), True),
        (a_model(AZURE), False),
    ],
    ids=["openai responses", "openai chat", "azure responses", "azure chat"],
)
async def test_what_a_transport_takes_no_files_of_is_sent_as_text(model, inlined):
    shelf = Shelf({IMAGE: StoredFile("text/plain", "notes.txt", b"milk")})

    prompt = await prompt_of(user(FilePart("text/plain", file_id=IMAGE)), files=shelf, model=model)

    [said] = prompt.messages[0].parts
    assert inlined is isinstance(said, TextPart)


async def test_a_history_that_cannot_be_sent_is_an_error_of_the_chat():
    huge = StoredFile("image/png", "huge.png", b"\x89PNG" + bytes(5 * 1024 * 1024))

    answer = await prompt_of(user(FilePart("image/png", file_id=IMAGE)), files=Shelf({IMAGE: huge}))

    assert isinstance(answer, ChatError)
    assert ("config", "anthropic", False) == (answer.kind, answer.provider, answer.retryable)
    assert answer.message.startswith("An image in this chat is 5 MiB or larger")


async def test_what_had_to_be_taken_out_of_a_history_is_logged(caplog):
    signed = ReasoningPart("hm", provider_metadata=JsonText('{"anthropic":{"signature":"s"}}'))

    with caplog.at_level(logging.WARNING, "events"):
        prompt = await prompt_of(
            user("search"),
            assistant(signed, call("srv_1", "web_search", provider=True)),
            user("and?"),
        )

    assert AssistantOutput((signed,)) in prompt.messages
    [record] = caplog.records
    assert ("prompt.repaired", {"chat": CHAT, "removed": 1}) == (record.message, record.fields)


async def test_a_root_asks_for_itself_and_a_child_for_its_root():
    root, parent = a_chat().chat, ChatId(UUID(int=77))

    of_root = await prompt_of(user("hello"), chat=root)
    of_child = await prompt_of(user("hello"), chat=a_chat(parent_id=parent).chat)
    grandchild = a_chat(parent_id=parent, root_id=FAMILY).chat
    of_grandchild = await prompt_of(user("hello"), chat=grandchild)

    assert (ANN, CHAT, None) == (of_root.asker.owner, of_root.asker.chat, of_root.asker.subchat)
    assert (parent, CHAT) == (of_child.asker.chat, of_child.asker.subchat)
    assert (FAMILY, CHAT) == (of_grandchild.asker.chat, of_grandchild.asker.subchat)


async def test_words_that_stand_for_a_turn_come_after_the_chats_own(autojump_clock):
    own = system("be kind", visibility=Visibility.MODEL)

    prompt = await prompt_of(own, user("hello"), words=("be brief", "plan"))

    assert ("be kind", "be brief", "plan") == prompt.system


# long histories


ME = ("anthropic", "me")
TARGET = Target(*ME, ANTHROPIC.rules)
LONG, ROWS = "x" * 2_000, 100


def grown(rows=ROWS, *, heavy=False, text="x"):
    growing = GrowingPrompt()
    last = user(FilePart("image/png", data="aGk=")) if heavy else user(text)
    convert(growing, *[user(text)] * (rows - 1), last)
    return growing


def convert(growing, *bodies):
    growing.messages(history_of(*bodies), {}, TARGET, lambda id: "me")


def kept(known, *chats, whom=ME):
    """Which of these are kept, in a word; the answer is looked at, and put back."""
    found = {chat: known.pop(chat, whom) for chat in chats}
    for chat, growing in found.items():
        if len(growing):
            known.put(chat, whom, growing)
    return "".join(chat for chat, growing in found.items() if len(growing))


def test_long_histories_are_kept_as_far_as_there_is_room_the_latest_first():
    one = grown().bytes_count
    known = PromptCache(2 * one + one // 2)

    for chat in "ab":
        known.put(chat, ME, grown())
    known.put("a", ME, known.pop("a", ME))
    known.put("c", ME, grown())

    assert PromptingStatistics(2, 2 * one, 1) == known.statistics()
    assert "ac" == kept(known, "a", "b", "c")


def test_what_a_history_takes_is_counted_by_its_texts():
    few = grown().bytes_count

    many = grown(text=LONG).bytes_count

    assert pytest.approx(2 * ROWS * len(LONG), rel=0.1) == many - few
    assert few < ROWS * len(LONG)


def test_a_history_that_grows_is_counted_as_it_is_now():
    known, growing = PromptCache(1_000_000), grown()
    known.put("a", ME, growing)

    convert(known.pop("a", ME), *[user(LONG)] * ROWS)
    known.put("a", ME, growing)

    assert growing.bytes_count == grown(text=LONG).bytes_count
    assert PromptingStatistics(1, growing.bytes_count, 0) == known.statistics()


@pytest.mark.parametrize(
    "growing",
    [grown(heavy=True), grown(text=LONG * 10)],
    ids=["with files", "longer than all that there is room for"],
)
def test_what_is_not_worth_it_is_not_kept_and_drives_nothing_out(growing):
    known = PromptCache(1_000_000)
    known.put("a", ME, grown())

    known.put("b", ME, growing)

    assert "a" == kept(known, "a", "b")


def test_a_history_is_kept_for_the_one_it_was_told_to():
    known = PromptCache(1_000_000)
    known.put("a", ME, grown())

    assert "" == kept(known, "a", whom=("openai", "me"))
    assert PromptingStatistics(0, 0, 0) == known.statistics()


async def test_of_a_chat_that_nobody_works_on_any_more_nothing_is_kept():
    prompting = Prompting(Surroundings(), Shelf())
    chat, history = a_chat().chat, history_of(*[user("x")] * ROWS)
    await prompting.prompt_for(chat, history, a_model(), ())
    before = prompting.statistics().histories

    prompting.forget(chat.id)
    prompting.forget(chat.id)

    assert (1, PromptingStatistics(0, 0, 0)) == (before, prompting.statistics())


async def test_the_next_step_of_a_long_history_costs_a_part_of_the_first():
    """The share is less than 0.01 of the functions that are called."""
    steps = [assistant(call(f"c{n}")) if n % 2 else result(f"c{n - 1}") for n in range(2, 1002)]
    history = history_of(user("hello"), *steps)
    prompting = Prompting(Surroundings(), Shelf())

    with counted() as first:
        await prompting.prompt_for(a_chat().chat, history[:-2], a_model(), ())
    with counted() as following:
        prompt = await prompting.prompt_for(a_chat().chat, history, a_model(), ())

    assert prompt == await prompt_of(*[row.body for row in history])
    assert following.calls < 0.1 * first.calls


def result(id):
    said = ToolResultPart(id, "f", JsonText('{"output":"' + "line " * 200 + '"}'))
    return Body(Role.TOOL, (said,))
