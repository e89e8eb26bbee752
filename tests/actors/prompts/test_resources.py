"""What of a workspace is used: bounded, told of, and the same as long as nothing moves."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.prompts.resources import (
    RESOURCES_MAX,
    TOTAL_BYTES_MAX,
    Fitness,
    Resource,
    ResourceKind,
    WorkspaceResources,
    digest,
    instructions_text,
    within_bounds,
)
from actors.prompts.skills import SkillSummary

HOME = "/w/home"
KIB = 1024


def a_file(path="AGENTS.md", text="Write tests first.", **more):
    return Resource(path, ResourceKind.INSTRUCTION_FILE, len(text), text=text, **more)


def a_skill(name="deploy", **more):
    path = f"skills/{name}/SKILL.md"
    return Resource(
        path, ResourceKind.SKILL, 9, text="Run it.", name=name, description="How", **more
    )


SETTINGS = Resource(".mcp.json", ResourceKind.MCP_CONFIG, 2, text="{}")
FILE, SKILL = a_file(), a_skill()


def a_snapshot(*resources, system="Linux"):
    return WorkspaceResources(system, resources)


def test_instructions_come_first_then_settings_then_skills_each_by_path():
    found = [SKILL, a_skill("build"), SETTINGS, a_file("CLAUDE.md"), FILE]

    assert ["AGENTS.md", "CLAUDE.md", ".mcp.json", "skills/build/SKILL.md", SKILL.path] == [
        each.path for each in within_bounds(found)
    ]


def test_what_is_one_too_many_is_shown_and_not_used():
    *used, last = within_bounds(a_skill(f"s{number:03}") for number in range(RESOURCES_MAX + 1))

    assert {Fitness.OK} == {each.fitness for each in used}
    assert (Fitness.EXCLUDED, "", f"s{RESOURCES_MAX}") == (last.fitness, last.text, last.name)
    assert last.why == "a workspace has at most 500 resources"


def test_from_the_first_on_that_is_over_the_total_all_are_excluded():
    big = [replace(a_skill(f"s{at}"), size_bytes=TOTAL_BYTES_MAX // 4) for at in range(4)]

    within = within_bounds(big)
    over = within_bounds([*big, replace(a_skill("s2x"), size_bytes=1)])

    assert {Fitness.OK} == {each.fitness for each in within}
    assert ["ok", "ok", "ok", "ok", "excluded"] == [each.fitness.value for each in over]
    assert over[-1].why == "all together have at most 2097152 bytes"


def test_what_is_not_used_takes_no_room():
    unfit = replace(a_file(), fitness=Fitness.OVERSIZE, size_bytes=2 * TOTAL_BYTES_MAX, text="")

    assert [Fitness.OVERSIZE, Fitness.OK] == [
        each.fitness for each in within_bounds([unfit, SKILL])
    ]


RESOURCES = st.builds(
    Resource,
    path=st.text("ab/", min_size=1, max_size=6),
    kind=st.sampled_from(ResourceKind),
    size_bytes=st.integers(0, TOTAL_BYTES_MAX),
    fitness=st.sampled_from([Fitness.OK, Fitness.INVALID]),
    text=st.text("xy", max_size=3),
)


@given(st.lists(RESOURCES, max_size=20), st.randoms())
def test_the_bounds_hold_and_the_order_of_finding_does_not_matter(found, random):
    shuffled = random.sample(found, len(found))

    kept = within_bounds(found)

    assert sum(each.size_bytes for each in kept if each.fitness is Fitness.OK) <= TOTAL_BYTES_MAX
    assert len(kept) == len(found)
    by_place = [(each.kind, each.path) for each in kept]
    assert by_place == [(each.kind, each.path) for each in within_bounds(shuffled)]
    assert all(not each.text for each in kept if each.fitness is Fitness.EXCLUDED)


def test_an_agent_is_told_where_it_works_and_what_stands_there():
    told = instructions_text(
        a_snapshot(FILE, a_file(".promptcorner/AGENTS.md", "Be kind."), SKILL), HOME
    )

    assert told.startswith(
        "<workspace-context>\nOperating system: Linux\nWorking directory: /w/home\n"
    )
    assert told.endswith(
        '<file path="/w/home/AGENTS.md">\nWrite tests first.\n</file>\n\n'
        '<file path="/w/home/.promptcorner/AGENTS.md">\nBe kind.\n</file>\n</workspace-context>'
    )


@pytest.mark.parametrize(
    "resource",
    [SKILL, SETTINGS, a_file(text=""), replace(FILE, fitness=Fitness.INVALID)],
    ids=["a skill", "settings", "nothing in it", "unfit"],
)
def test_without_instructions_nothing_is_told(resource):
    assert instructions_text(a_snapshot(resource), HOME) is None


def test_skills_are_those_that_may_be_used():
    snapshot = a_snapshot(FILE, SKILL, a_skill("bad", fitness=Fitness.INVALID))

    assert (SkillSummary("deploy", "How"),) == snapshot.skills
    assert SKILL == snapshot.skill("deploy")
    assert snapshot.skill("bad") is None
    assert snapshot.skill("AGENTS.md") is None


def test_settings_are_those_that_may_be_used():
    unfit = replace(SETTINGS, path="b/.mcp.json", fitness=Fitness.INVALID, text="")

    assert ("{}",) == a_snapshot(FILE, SETTINGS, unfit, SKILL).settings


@pytest.mark.parametrize(
    "other",
    [
        a_snapshot(replace(FILE, text="Otherwise."), SKILL),
        a_snapshot(replace(FILE, path="CLAUDE.md"), SKILL),
        a_snapshot(replace(FILE, fitness=Fitness.OVERSIZE), SKILL),
        a_snapshot(FILE, replace(SKILL, description="Otherwise")),
        a_snapshot(FILE, replace(SKILL, name="other")),
        a_snapshot(FILE),
        a_snapshot(FILE, SKILL, SETTINGS),
        a_snapshot(FILE, SKILL, system="Darwin"),
    ],
)
def test_whatever_an_agent_could_notice_is_another_digest(other):
    assert digest(a_snapshot(FILE, SKILL)) != digest(other)


@pytest.mark.parametrize(
    "same",
    [
        a_snapshot(FILE, SKILL),
        a_snapshot(replace(FILE, size_bytes=99), SKILL),
        a_snapshot(FILE, replace(SKILL, why="told otherwise")),
    ],
)
def test_what_nobody_could_tell_apart_has_one_digest(same):
    assert digest(a_snapshot(FILE, SKILL)) == digest(same)
