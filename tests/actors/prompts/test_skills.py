"""How skills are called, found and told of."""

import pytest

from actors.prompts.skills import (
    INDEX_DESCRIPTION_CHARACTERS_MAX,
    SkillSummary,
    find_skill,
    list_skills,
    skill_index,
    skill_path_fault,
)

NOTES, DEPLOY, OWN_DEPLOY = (
    SkillSummary("notes", "How we write them"),
    SkillSummary("deploy", "How it is done here"),
    SkillSummary("deploy", "How I do it"),
)
ENTRIES = list_skills([NOTES, OWN_DEPLOY], [DEPLOY])


def test_a_name_that_is_there_twice_is_qualified_and_others_are_not():
    assert ["personal/deploy", "workspace/deploy", "notes"] == [entry.alias for entry in ENTRIES]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("notes", NOTES),
        ("personal/notes", NOTES),
        ("personal/deploy", OWN_DEPLOY),
        ("workspace/deploy", DEPLOY),
    ],
)
def test_a_skill_is_found_by_its_alias_and_qualified(wanted, expected):
    assert expected is find_skill(ENTRIES, wanted).skill


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("deploy", "say personal/deploy or workspace/deploy"),
        ("workspace/notes", "there is no skill 'workspace/notes'"),
        ("", "there is no skill ''"),
    ],
)
def test_what_is_not_found_is_told_with_what_there_is(wanted, says):
    assert says in find_skill(ENTRIES, wanted)


def test_the_index_is_a_line_for_each():
    told = skill_index(
        list_skills([SkillSummary("notes", "How we\n  write them"), SkillSummary("bare", "")], [])
    )

    assert "\n- bare: (no description)\n- notes: How we write them\n</available-skills>" in told
    assert skill_index(()) is None


def test_a_long_description_does_not_fill_the_prompt():
    told = skill_index(list_skills([SkillSummary("notes", "x" * 4_096)], []))

    assert f"- notes: {'x' * (INDEX_DESCRIPTION_CHARACTERS_MAX - 1)}…\n" in told


@pytest.mark.parametrize("path", ["a.md", "scripts/run.sh", "./a.md", "a..b/c"])
def test_a_file_of_a_skill_lies_below_it(path):
    assert skill_path_fault(path) is None


@pytest.mark.parametrize(
    "path", ["", " ", "/etc/passwd", "../x", "a/../../x", ".env", "a/.b", "\0"]
)
def test_what_leads_elsewhere_is_refused(path):
    assert skill_path_fault(path).startswith("path: ")


def test_who_wants_out_of_a_skill_is_told_that_it_cannot_be():
    assert "must not lead out" in skill_path_fault("a/../../x")
    assert "hidden files" in skill_path_fault("a/.b")
