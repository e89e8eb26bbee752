"""Skills as their authors write them."""

import pytest

from adapters.models.skill_file import InvalidSkill, Skill, is_skill_name, parse_skill


def a_skill(front, body="Do it."):
    return f"---\n{front}\n---\n{body}\n"


@pytest.mark.parametrize(
    ("front", "description"),
    [
        ("name: a\ndescription: plain words", "plain words"),
        ("name: a\ndescription: plain # and a comment", "plain"),
        ("name: a\ndescription: it's a C#: yes", "it's a C#: yes"),
        ('name: a\ndescription: "quoted \\"twice\\" \\u00e4" # so', 'quoted "twice" ä'),
        ('name: a\ndescription: "half \\ud800 of one"', "half \ufffd of one"),
        ("name: a\ndescription: 'it''s quoted' # so", "it's quoted"),
        ("name: a\ndescription: |\n  two\n  lines\n", "two\nlines"),
        ("name: a\ndescription: >-\n  two\n  lines\n\n  and more", "two lines\nand more"),
        ("name: a\ndescription: goes on\n  below", "goes on below"),
        ("description: before\nmore:\n  name: inner\n  - list\nname: a", "before"),
        ("# comment\nname: a", ""),
        ("name: a\ndescription:", ""),
        ("name: 'a'\r\ndescription: windows\r", "windows"),
        ("name: a\ndescription: first\ndescription: second", "first"),
    ],
)
def test_as_much_of_yaml_is_read_as_two_texts_need(front, description):
    skill = parse_skill(a_skill(front))

    assert Skill("a", description, "Do it.") == skill


def test_comments_and_a_mark_of_byte_order_are_no_words():
    content = "\ufeff" + a_skill("name: a", "<!-- for us\nonly -->\nDo <!-- x -->it.")

    assert Skill("a", "", "Do it.") == parse_skill(content)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("", "content"),
        ("   ", "content"),
        ("Do it.", "content"),
        ("---\nname: a\nDo it.", "content"),
        (a_skill("description: no name"), "name"),
        (a_skill("name: Not A Name"), "name"),
        (a_skill(f"name: {'a' * 257}"), "name"),
        (a_skill(f"name: a\ndescription: {'ä' * 2049}"), "description"),
        (a_skill("name: a", " \n "), "content"),
        (a_skill("name: a", "<!-- nothing -->"), "content"),
        (a_skill("name: a", "x" * 65_536), "content"),
        (a_skill("name: a", "zero\0byte"), "content"),
    ],
)
def test_what_is_no_skill_is_told_why(content, field):
    unfit = parse_skill(content)

    assert isinstance(unfit, InvalidSkill)
    assert field == unfit.field


def test_a_name_is_words_of_lowercase_letters_and_digits():
    good = ["a", "a-b", "a1-2b", "a" * 256]
    bad = ["", "-a", "a-", "a--b", "A", "a_b", "ä", "a" * 257, "a\n"]

    assert [*good] == [name for name in (*good, *bad) if is_skill_name(name)]
