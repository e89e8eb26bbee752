"""What a plan has to be before it is handed in."""

import pytest

from actors.prompts.context.plans import PLAN_BYTES_MAX, path_fault, plan_of

PLACE = "/home/x/PLAN-1.md"


def test_a_plan_stands_where_the_chat_was_told_to_write_it():
    assert path_fault(PLACE, PLACE) is None
    assert PLACE in path_fault("/home/x/other.md", PLACE)
    assert "must end with .md" in path_fault("/plan.txt", "/plan.txt")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b" \n\t ", "is empty"),
        (b"x" * (PLAN_BYTES_MAX + 1), f"more than {PLAN_BYTES_MAX} bytes"),
    ],
)
def test_what_is_no_plan_is_refused_with_a_reason(content, says):
    _, fault = plan_of(content)

    assert says in fault


def test_a_plan_may_fill_all_the_room_there_is():
    assert ("x" * PLAN_BYTES_MAX, None) == plan_of(b"x" * PLAN_BYTES_MAX)


def test_bytes_that_are_no_text_do_not_cost_the_plan():
    assert ("a\ufffdb", None) == plan_of(b" a\xffb\n")
