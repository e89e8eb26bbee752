"""What a daemon asks beside its turns: titles and labels spend no answer of a script."""

import pytest

from tests.adapters.rehearsal.serving import VENDORS, a_model


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_title_that_is_asked_for_in_between_spends_no_answer_of_a_script(vendor):
    script = [{"text": "one"}, {"text": "two"}]
    async with a_model(text="Rehearsal", script=script) as model:
        one = await model.ask(vendor, chat="7")
        title = await model.ask(vendor, "a title, please", streamed=False, chat="7")
        two = await model.ask(vendor, chat="7")

    assert "one" in one.text
    assert "Rehearsal" in title.text
    assert "two" in two.text


async def test_a_program_that_is_no_daemon_of_ours_gets_the_script_in_order():
    script = [{"text": "one"}, {"text": "two"}]
    async with a_model(script=script) as model:
        answers = [(await model.ask(streamed=False)).json() for _ in range(2)]

    assert ["one", "two"] == [each["content"][0]["text"] for each in answers]
