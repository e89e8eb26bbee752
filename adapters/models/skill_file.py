"""The file of a skill: Markdown, with its name and description in YAML before it. Pure.

    ---
    name: release-notes
    description: How we write them
    ---
    Begin with what changed for users. …

Only as much of YAML is read as two texts need: plain, quoted and block scalars.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from actors.law.parts.json_text import well_formed

CONTENT_BYTES_MAX = 64 * 1024
NAME_BYTES_MAX = 256
DESCRIPTION_BYTES_MAX = 4_096

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FRONT = re.compile(
    r"\ufeff?---[ \t]*\r?\n(.*?)(?:\r?\n)?^---[ \t]*$\r?\n?", re.DOTALL | re.MULTILINE
)
_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*))?")
_BLOCK = re.compile(r"([|>])[+-]?[0-9]?")
_HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill as it was read."""

    name: str
    description: str
    body: str


@dataclass(frozen=True, slots=True)
class InvalidSkill:
    """A fault of a skill's file: the field, and the reason."""

    field: str
    why: str


def is_skill_name(text: str) -> bool:
    """Return whether a text can be the name of a skill."""
    return len(text.encode()) <= NAME_BYTES_MAX and _NAME.fullmatch(text) is not None


def parse_skill(content: str, *, is_own: bool = True) -> Skill | InvalidSkill:
    """Return the skill in a file's content, or what is wrong with it.

    `is_own` is for a skill that a user keeps here; of skills in a workspace less is demanded.
    """
    size = len(content.encode())
    if not content.strip():
        return InvalidSkill("content", "is required")
    if size > CONTENT_BYTES_MAX:
        return InvalidSkill("content", f"has {size} bytes, may have {CONTENT_BYTES_MAX}")
    if "\0" in content:
        return InvalidSkill("content", "has a zero byte in it")
    front = _FRONT.match(content)
    if front is None:
        return InvalidSkill("content", "must begin with front matter between two lines of ---")
    fields = _fields(front[1].splitlines())
    body = _HTML_COMMENT.sub("", content[front.end() :]).strip()
    skill = Skill(fields.get("name", ""), fields.get("description", ""), body)
    return _checked(skill) or (_checked_as_own(skill) if is_own else None) or skill


def _checked(skill: Skill) -> InvalidSkill | None:
    if not skill.name:
        return InvalidSkill("name", "is required in the front matter")
    if not is_skill_name(skill.name):
        return InvalidSkill(
            "name", f"must be lowercase words joined by hyphens, of up to {NAME_BYTES_MAX} bytes"
        )
    return None


def _checked_as_own(skill: Skill) -> InvalidSkill | None:
    size = len(skill.description.encode())
    if size > DESCRIPTION_BYTES_MAX:
        return InvalidSkill("description", f"has {size} bytes, may have {DESCRIPTION_BYTES_MAX}")
    if not skill.body:
        return InvalidSkill("content", "says nothing after its front matter")
    return None


def _fields(lines: Sequence[str]) -> dict[str, str]:
    """Return the texts of the top level; lines that belong to a key are indented below it."""
    fields: dict[str, str] = {}
    at = 0
    while at < len(lines):
        key = _KEY.fullmatch(lines[at].rstrip())
        at += 1
        below = at
        while below < len(lines) and (not lines[below].strip() or lines[below][0] in " \t"):
            below += 1
        if key is not None:
            fields.setdefault(key[1], _scalar((key[2] or "").strip(), lines[at:below]))
        at = below
    return fields


def _scalar(first: str, below: Sequence[str]) -> str:
    block = _BLOCK.fullmatch(first)
    if block is not None:
        text = "\n".join(_unindented(below)).strip()
        return text if block[1] == "|" else re.sub(r"\n(\n*)", lambda found: found[1] or " ", text)
    whole = " ".join([first, *(line.strip() for line in below)]).strip()
    if whole[:1] == '"':
        return _double_quoted(whole)
    if whole[:1] == "'":
        return re.split(r"(?<!')'(?!')", whole[1:])[0].replace("''", "'")
    return re.split(r"(?:^|\s)#", whole)[0].strip()


def _unindented(lines: Sequence[str]) -> list[str]:
    depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[depth:] for line in lines]


def _double_quoted(text: str) -> str:
    """Return a double-quoted text, with the escapes that YAML and JSON share."""
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text)
    except ValueError:
        return ""
    return well_formed(value) if isinstance(value, str) else ""
