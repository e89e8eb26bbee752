"""What a chat is told beside what is said in it; and who finds it a title."""

import pytest
import trio

from actors.law.chat import ChatError, Role, Visibility
from actors.law.parts.assemble import ModelAnswer
from actors.prompts.advice import GUIDANCE, AdvisedChats
from adapters.models.prompt_texts import (
    ATTACHED,
    DEFAULT_SYSTEM_PROMPT,
    DETACHED,
    DETACHED_CHILD,
    PLAN_MODE,
    PLAN_MODE_CHILD,
    place_text,
)
from adapters.models.settings import (
    ADVISOR,
    INCLUDE_DEFAULT_SYSTEM_PROMPT,
    OWN_PROMPT,
    PLAN_MODE_INSTRUCTIONS,
    SYSTEM_PROMPT,
    override_name,
    override_text,
)
from adapters.models.snapshot import REHEARSAL, REHEARSAL_MODEL
from adapters.workspaces.context.turn_context import PLACE_SECONDS_MAX
from tests.actors.law.chats import ANN, BOB, CHAT, a_chat
from tests.adapters.models.given import hello

TITLES = override_name("title_generation")
EFFORTS = {"reasoning_effort": {"default": "low", "max": "high"}}


def a_chat_for(model=None, **columns):
    return a_chat(last_model_config_id=model, last_reasoning_effort=None, **columns).chat


async def test_a_chat_begins_with_hidden_rows_of_the_deployment_and_of_its_client(ground):
    await ground.settings.put({SYSTEM_PROMPT: "ours", INCLUDE_DEFAULT_SYSTEM_PROMPT: True})

    rows = await ground.catalogue.system_messages(" the\u200b client's ")

    assert [f"{DEFAULT_SYSTEM_PROMPT}\n\nours", "the client's"] == [
        row.parts[0].text for row in rows
    ]
    assert {(Role.SYSTEM, Visibility.MODEL)} == {(row.role, row.visibility) for row in rows}


async def test_a_chat_begins_with_a_word_on_where_it_works(ground):
    await ground.settings.put({INCLUDE_DEFAULT_SYSTEM_PROMPT: False})
    places = [
        place_text(has_workspace=has_workspace, is_root=is_root)
        for has_workspace in (True, False)
        for is_root in (True, False)
    ]

    rows = await ground.catalogue.system_messages("the client's", place=places[0])

    assert ["the client's", ATTACHED] == [row.parts[0].text for row in rows]
    assert [ATTACHED, ATTACHED, DETACHED, DETACHED_CHILD] == places
    assert ["create_workspace" in text for text in places] == [False, False, True, False]


async def test_where_there_is_nothing_to_say_there_is_no_row(ground):
    await ground.settings.put({INCLUDE_DEFAULT_SYSTEM_PROMPT: False})

    assert () == await ground.catalogue.system_messages(" ")


async def test_instructions_of_the_user_stand_in_all_his_chats(ground):
    await ground.settings.put_own(ANN, OWN_PROMPT, "be brief")

    anns = await ground.turn_context(a_chat_for())
    bobs = await ground.turn_context(a_chat_for(owner_id=BOB))

    instructions = "<user-instructions>\nbe brief\n</user-instructions>"
    assert (*bobs.words, instructions) == anns.words
    assert instructions not in bobs.words


async def test_a_chat_that_plans_is_told_so_and_how_if_it_is_a_root(ground):
    await ground.settings.put({PLAN_MODE_INSTRUCTIONS: "name the branch"})

    root = await ground.turn_context(a_chat_for(plan_mode="plan"))
    child = await ground.turn_context(a_chat_for(plan_mode="plan", parent_id=CHAT))
    plain = await ground.turn_context(a_chat_for())

    assert (*plain.words, PLAN_MODE, "name the branch") == root.words
    assert PLAN_MODE_CHILD == child.words[-1]
    assert PLAN_MODE_CHILD not in plain.words


class Instructions:
    """The port WorkspaceInstructions."""

    async def instructions(self, chat):
        return "of the workspace"


async def test_what_a_turn_is_told_stands_in_its_order(ground):
    await ground.settings.put({PLAN_MODE_INSTRUCTIONS: "name the branch"})
    await ground.settings.put_own(ANN, OWN_PROMPT, "be brief")
    await ground.skills.add(ANN, "notes", description="How", content="x")
    words = ground.words(workspace=Instructions(), advised=AdvisedChats(True))

    async def told(**columns):
        return [
            next((mark for mark in MARKS if mark in text), text)
            for text in (await words.turn_context(a_chat_for(**columns))).words
        ]

    begins = ["of the workspace", "<available-skills>", "<user-instructions>"]
    assert ["<agents>", *begins, "<advisor>"] == await told()
    assert ["<agents>", *begins, "<plan-mode>", "name the branch"] == await told(plan_mode="plan")
    assert ["<delegated-work>", *begins] == await told(parent_id=CHAT)
    assert ["<delegated-work>", *begins, "<read-only>"] == await told(
        parent_id=CHAT, mode="explore"
    )
    assert ["<delegated-work>", *begins, "<plan-mode>"] == await told(
        parent_id=CHAT, plan_mode="plan"
    )


MARKS = (
    "<agents>",
    "<delegated-work>",
    "<available-skills>",
    "<user-instructions>",
    "<read-only>",
    "<plan-mode>",
    "<advisor>",
)


async def test_titles_are_asked_of_the_model_that_is_set_for_them(ground):
    provider = await ground.add_provider()
    chats = await ground.add_model(provider, "chats")
    titles = await ground.add_model(provider, "titles", call=EFFORTS)
    chat, asked = a_chat_for(chats), []

    async def begin():
        model = await ground.catalogue.model_for(chat)
        asked.append(ground.catalogue.for_automatic_titles(chat, model))

    await begin()
    await ground.settings.put({TITLES: override_text(titles, "medium")})
    await begin()
    await ground.configs.remove(titles)
    await begin()

    assert ["chats", "titles", "chats"] == [model.name for model in asked]
    assert "medium" == asked[1].settings.effort


async def test_a_rehearsal_is_not_asked_for_titles(ground):
    chat = a_chat_for()

    model = await ground.catalogue.model_for(chat)

    assert None is ground.catalogue.for_automatic_titles(chat, model)


@pytest.mark.slow
async def test_a_first_chat_is_answered_by_a_rehearsal_that_says_so(ground):
    model = await ground.catalogue.model_for(a_chat_for())
    contents = await ground.catalogue.snapshot()

    answer = await model.provider.generate(hello(model.name))

    assert isinstance(answer, ModelAnswer)
    assert answer.parts[0].text.startswith("This is a rehearsal, not a real model")
    assert "ANTHROPIC_API_KEY" in answer.parts[0].text
    assert REHEARSAL_MODEL == model.config_id
    [listed] = contents.models.values()
    assert "not a real model" in listed.display_name
    assert "not a real model" in contents.providers[REHEARSAL].display_name


async def test_a_rehearsal_ends_with_the_first_provider(ground):
    said_by = (await ground.catalogue.model_for(a_chat_for())).config_id
    provider = await ground.add_provider()

    nobody = await ground.catalogue.model_for(a_chat_for(said_by))
    model = await ground.add_model(provider)
    somebody = await ground.catalogue.model_for(a_chat_for(said_by))
    contents = await ground.catalogue.snapshot()
    context = await ground.turn_context(a_chat_for())

    assert isinstance(nobody, ChatError)
    assert model == somebody.config_id == contents.default.id
    assert [provider] == list(contents.providers)
    assert str(REHEARSAL) == context.identity_of(said_by)


class Disk:
    """The port PlanFiles, of a workspace that answers or does not."""

    def __init__(self, place):
        self.found = place
        self.asked = trio.Event()

    async def place(self, chat):
        self.asked.set()
        if self.found is None:
            await trio.sleep_forever()
        return self.found


async def test_a_chat_that_plans_in_a_workspace_is_told_where_its_plan_stands(ground):
    words = ground.words(plans=Disk("/home/x/PLAN.md"))

    planning = await words.turn_context(a_chat_for(plan_mode="plan"))
    child = await words.turn_context(a_chat_for(plan_mode="plan", parent_id=CHAT))
    plain = await words.turn_context(a_chat_for())

    assert "<plan-file-path>\n/home/x/PLAN.md\n" in planning.words[-1]
    assert "plan-file-path" not in "".join((*child.words, *plain.words))


async def test_a_workspace_that_does_not_answer_holds_up_a_turn_for_a_while_only(
    mock_clock, ground
):
    silent, answers = Disk(None), []
    await ground.turn_context(a_chat_for(plan_mode="plan"))

    async def ask():
        words = ground.words(plans=silent)
        answers.append(await words.turn_context(a_chat_for(plan_mode="plan")))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        await silent.asked.wait()
        mock_clock.jump(PLACE_SECONDS_MAX + 1)

    assert PLAN_MODE == answers[0].words[-1]


async def test_who_may_ask_an_advisor_is_told_so_after_everything_else(ground):
    words = ground.words(advised=AdvisedChats(True))

    root = await words.turn_context(a_chat_for())
    others = [
        await words.turn_context(a_chat_for(**columns))
        for columns in ({"parent_id": CHAT}, {"plan_mode": "plan"}, {"mode": "explore"})
    ]

    assert GUIDANCE == root.words[-1]
    assert not any(GUIDANCE in other.words for other in others)


async def test_advice_is_asked_of_the_model_that_is_set_for_it_if_it_can_be(ground):
    provider = await ground.add_provider()
    chats = await ground.add_model(provider, "chats")
    wise = await ground.add_model(provider, "wise", call=EFFORTS)
    chat = a_chat_for(chats)

    async def asked():
        return await ground.catalogue.model_for_advice(chat)

    usual = await asked()
    await ground.settings.put({ADVISOR: {"model_config_id": str(wise), "reasoning_effort": "high"}})
    preferred = await asked()
    await ground.configs.remove(wise)
    again = await asked()

    assert ["chats", "wise", "chats"] == [usual.name, preferred.name, again.name]
    assert "high" == preferred.settings.effort


async def test_an_advisor_helps_a_chat_whose_own_model_is_gone(ground):
    provider = await ground.add_provider()
    wise = await ground.add_model(provider, "wise")
    off = await ground.add_model(provider, "off", enabled=False)

    refused = await ground.catalogue.model_for_advice(a_chat_for(off))
    await ground.settings.put({ADVISOR: {"model_config_id": str(wise)}})
    preferred = await ground.catalogue.model_for_advice(a_chat_for(off))

    assert isinstance(refused, ChatError)
    assert "wise" == preferred.name
