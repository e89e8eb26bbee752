"""One look at a directory: what is found in it, what is not used, and where it listens."""

import os
from itertools import product

import pytest

from actors.prompts.resources import RESOURCE_BYTES_MAX, Fitness
from adapters.workspaces.context.scan import FOUND_MAX, scan
from tests.adapters.workspaces.context.ground import put, skill

KIB = 1024


@pytest.fixture
def home(tmp_path):
    (tmp_path / "outside").mkdir()
    put(tmp_path / "outside", **{"secret": "secret", "deploy/SKILL.md": skill()})
    home = tmp_path / "home"
    home.mkdir()
    return home


def found(home):
    """(path, fitness) of what there is."""
    return [(each.path, each.fitness.value) for each in scan(str(home)).snapshot.resources]


def only(home):
    [resource] = scan(str(home)).snapshot.resources
    return resource


def test_nothing_is_found_where_nothing_is(home):
    put(home, **{"README.md": "x", "docs/AGENTS.md": "below", "agents.md": "not its name"})

    assert [] == found(home)


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", ".cursorrules"])
@pytest.mark.parametrize("root", ["", ".promptcorner/", ".promptcorner/skills/"])
def test_instructions_stand_at_the_top_of_three_directories(home, root, name):
    put(home, **{f"{root}{name}": " Be kind.\u200b  \r\n\r\n\r\n\r\nAnd brief. "})

    resource = only(home)

    assert (f"{root}{name}", Fitness.OK) == (resource.path, resource.fitness)
    assert resource.text == "Be kind.\n\nAnd brief."


ROOTS = ("", ".promptcorner/")
CONTAINERS = ("skills", ".agents/skills", ".claude/skills", ".codex/skills")


@pytest.mark.parametrize(("root", "container"), [*product(ROOTS, CONTAINERS)])
def test_skills_stand_in_directories_of_their_names(home, root, container):
    path = f"{root}{container}/deploy/SKILL.md"
    put(home, **{path: skill()})

    resource = only(home)

    assert (path, Fitness.OK, "deploy", "How we deploy", "Run it twice.") == (
        resource.path,
        resource.fitness,
        resource.name,
        resource.description,
        resource.text,
    )


def test_a_skill_is_not_looked_for_any_deeper(home):
    put(home, **{"skills/a/deploy/SKILL.md": skill(), "skills/SKILL.md": skill("skills")})

    assert [] == found(home)


def test_settings_for_servers_are_an_object(home):
    deep = '{"a":' + "[" * 20_000 + "]" * 20_000 + "}"
    put(home, **{".mcp.json": '{"mcpServers": {}}', ".promptcorner/.mcp.json": "[]"})
    put(home, **{".promptcorner/skills/.mcp.json": deep})

    assert [
        (".mcp.json", "ok"),
        (".promptcorner/.mcp.json", "invalid"),
        (".promptcorner/skills/.mcp.json", "invalid"),
    ] == found(home)


@pytest.mark.parametrize(
    ("content", "fitness", "why"),
    [
        (b"x" * RESOURCE_BYTES_MAX, "ok", ""),
        (b"x" * (RESOURCE_BYTES_MAX + 1), "oversize", "has 65537 bytes, may have 65536"),
        (b"x" * (64 * KIB * KIB), "oversize", "has 67108864 bytes, may have 65536"),
        (b"\xff\xfe", "invalid", "is not text in UTF-8"),
        (b"a\0b", "invalid", "has a zero byte in it"),
        (b"", "ok", ""),
    ],
    ids=["just fits", "one byte too many", "huge", "binary", "a zero byte", "empty"],
)
def test_a_file_that_does_not_fit_is_shown_and_not_used(home, content, fitness, why):
    put(home, **{"AGENTS.md": content})

    resource = only(home)

    assert (fitness, why) == (resource.fitness.value, resource.why)
    assert bool(resource.text) == (fitness == "ok" and bool(content))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no front matter", "content: must begin with front matter between two lines of ---"),
        ("---\ndescription: x\n---\nbody", "name: is required in the front matter"),
        (skill("other"), "name: is other, and has to be that of its directory"),
        (skill("Deploy"), "name: must be lowercase words joined by hyphens, of up to 256 bytes"),
    ],
)
def test_a_skill_that_is_none_says_why(home, text, why):
    put(home, **{"skills/deploy/SKILL.md": text})

    resource = only(home)

    assert (Fitness.INVALID, why, "deploy") == (resource.fitness, resource.why, resource.name)


def test_of_two_skills_of_one_name_the_first_counts(home):
    put(home, **{f"{place}/deploy/SKILL.md": skill(body=place) for place in CONTAINERS[:2]})

    by_path = {each.path: each for each in scan(str(home)).snapshot.resources}

    assert by_path["skills/deploy/SKILL.md"].text == "skills"
    second = by_path[".agents/skills/deploy/SKILL.md"]
    assert second.why == "name: another skill is called that, skills/deploy/SKILL.md"


def test_a_workspace_asks_less_of_a_skill_than_a_user_is_asked(home):
    put(home, **{"skills/deploy/SKILL.md": skill(says="x" * 5_000, body="")})

    assert [("skills/deploy/SKILL.md", "ok")] == found(home)


# links


def test_one_file_under_several_names_counts_once(home):
    put(home, **{"AGENTS.md": "x", ".agents/skills/deploy/SKILL.md": skill()})
    (home / "CLAUDE.md").symlink_to("AGENTS.md")
    os.link(home / "AGENTS.md", home / ".cursorrules")
    (home / ".claude").mkdir()
    (home / ".claude/skills").symlink_to("../.agents/skills")

    assert [("AGENTS.md", "ok"), (".agents/skills/deploy/SKILL.md", "ok")] == found(home)


def test_a_link_that_stays_inside_is_followed(home):
    put(home, **{"docs/rules.md": "Be kind.", "lib/deploy/SKILL.md": skill()})
    (home / "AGENTS.md").symlink_to("docs/rules.md")
    (home / "skills").mkdir()
    (home / "skills/deploy").symlink_to(home / "lib/deploy")

    assert [("AGENTS.md", "ok"), ("skills/deploy/SKILL.md", "ok")] == found(home)


@pytest.mark.parametrize(
    ("link", "target", "shown"),
    [
        ("AGENTS.md", "../outside/secret", "AGENTS.md"),
        ("AGENTS.md", "/etc/passwd", "AGENTS.md"),
        ("AGENTS.md", "AGENTS.md", "AGENTS.md"),
        ("skills", "../outside", "skills"),
        (".promptcorner/CLAUDE.md", "../rules.md", ".promptcorner/CLAUDE.md"),
    ],
    ids=["to a neighbour", "absolute", "to itself", "a container", "out of a root"],
)
def test_a_link_that_leads_out_is_invalid(home, link, target, shown):
    put(home, **{"rules.md": "x"})
    (home / link).parent.mkdir(exist_ok=True)
    (home / link).symlink_to(target)

    resource = only(home)

    assert (shown, Fitness.INVALID, "") == (resource.path, resource.fitness, resource.text)
    assert "leads out" in resource.why


def test_a_skill_that_is_a_link_to_elsewhere_is_invalid(home):
    (home / "skills").mkdir()
    (home / "skills/deploy").symlink_to(home.parent / "outside/deploy")

    assert [("skills/deploy/SKILL.md", "invalid")] == found(home)


def test_a_directory_of_ours_that_leads_out_is_not_looked_at(home):
    (home / ".promptcorner").symlink_to(home.parent / "outside")
    put(home.parent / "outside", **{"AGENTS.md": "theirs"})

    assert [] == found(home)


def test_a_link_to_nothing_is_nothing(home):
    (home / "AGENTS.md").symlink_to("gone")
    (home / "skills").mkdir()
    (home / "skills/deploy").symlink_to("gone")

    assert [] == found(home)


def test_what_the_system_does_not_open_is_unreadable(home):
    (home / "AGENTS.md").symlink_to("x" * 300)

    assert (Fitness.UNREADABLE, "file name too long") == (only(home).fitness, only(home).why)


def test_what_waits_or_never_ends_is_not_opened(home):
    os.mkfifo(home / "AGENTS.md")
    (home / "CLAUDE.md").mkdir()
    (home / "skills").mkdir()
    os.mkfifo(home / "skills/deploy")

    assert [("AGENTS.md", "invalid"), ("CLAUDE.md", "invalid")] == found(home)


def test_files_where_directories_should_be_are_passed_over(home):
    put(home, **{"skills": "a file", ".agents": "a file", ".promptcorner": "a file"})

    assert [] == found(home)


@pytest.mark.slow
def test_there_is_an_end_to_what_is_looked_at(home):
    for number in range(FOUND_MAX + 5):
        put(home, **{f"skills/s{number:04}/SKILL.md": "bad"})

    assert FOUND_MAX == len(found(home))


def test_a_directory_that_is_gone_is_an_error(home):
    with pytest.raises(FileNotFoundError):
        scan(f"{home}/gone")


# where it listens


def listens(home, place, name):
    names = scan(str(home)).places.get(str(home / place).rstrip("/"), ())
    return names is None or name in names


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("", "AGENTS.md"),
        ("", ".mcp.json"),
        ("", "skills"),
        ("", ".claude"),
        ("", ".promptcorner"),
        (".claude", "skills"),
        ("skills", "whatever"),
        ("skills/deploy", "SKILL.md"),
        ("docs", "rules.md"),
        (".promptcorner", "CLAUDE.md"),
        (".promptcorner", "skills"),
    ],
)
def test_it_listens_wherever_something_may_change(home, place, name):
    put(
        home,
        **{
            "skills/deploy/SKILL.md": skill(),
            "docs/rules.md": "x",
            ".claude/settings.json": "{}",
            ".promptcorner/AGENTS.md": "x",
        },
    )
    (home / "CLAUDE.md").symlink_to("docs/rules.md")

    assert listens(home, place, name)


@pytest.mark.parametrize(("place", "name"), [("", "main.py"), ("src", "a"), ("skills/deploy", "a")])
def test_it_does_not_listen_to_work(home, place, name):
    put(home, **{"skills/deploy/SKILL.md": skill(), "src/a": "x"})

    assert not listens(home, place, name)
