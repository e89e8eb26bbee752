"""The table of log entries is what is written, no more and no less."""

import ast
from pathlib import Path

from actors.law.log_events import LOG_EVENTS

ROOT = Path(__file__).parents[3]


def written():
    """(name, level, fields) of every entry that the actors write."""
    for path in sorted((ROOT / "actors").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "emit":
                name, level = (argument.value for argument in node.args)
                yield name, level, frozenset(keyword.arg for keyword in node.keywords)


def test_every_entry_stands_in_the_table_with_its_fields():
    table = {(entry.name, entry.level, frozenset(entry.fields)) for entry in LOG_EVENTS}

    assert table == set(written()), "name it in actors/law/log_events.py, or take it out there"


def test_an_entry_has_one_row_in_words_of_the_past():
    assert len(LOG_EVENTS) == len({entry.name for entry in LOG_EVENTS})
    assert all(entry.name.count(".") == 1 for entry in LOG_EVENTS)
    assert all(entry.meaning for entry in LOG_EVENTS)
