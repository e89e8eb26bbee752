"""Rules with brackets: what they allow, deny and have people asked about."""

import re
import time
from dataclasses import replace
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.law.parts.message import JsonText
from actors.tools.approval_rules import Policy, ServerStart, read_rule, read_rules, strictest
from actors.tools.approvals import Consent
from actors.tools.argument_rules import (
    PATTERN_CHARACTERS_MAX,
    matches,
    path_matches,
    suggested_patterns,
)
from actors.tools.commands import WORDS_MAX
from tests.actors.chat.turn.given import tool

ALLOW, ASK, DENY = Policy.ALLOW, Policy.ASK, Policy.DENY
EXECUTE, WRITE, EDIT = tool("execute"), tool("write_file"), tool("edit_files")
LINEAR = replace(tool("linear__create_issue"), is_foreign=True, server=UUID(int=1))
START = replace(
    tool("kit__start_server"), is_foreign=True, start=ServerStart("kit", "d1", JsonText("{}"))
)
HERE = "/data/workspaces/" + str(UUID(int=7))


def args(**values):
    return JsonText(msgspec.json.encode(values).decode())


def holds(command, rules="", policy=ASK, granted=(), own="", by_person=False):
    """What holds for a command. `own` are rules of the user."""
    theirs = tuple(replace(rule, place="user") for rule in read_rules(own))
    consent = Consent(policy, (*read_rules(rules), *theirs), frozenset(granted))
    return consent.to(EXECUTE, args(command=command), by_person=by_person)


@pytest.mark.parametrize(
    ("rule", "command", "found"),
    [
        ("git status", "git status", ALLOW),
        ("git status", "git status -s", ASK),
        ("git status *", "git status", ALLOW),
        ("git status *", "git status -s --long", ALLOW),
        ("git status *", "git statusx", ASK),
        ("git *", "git status && rm -rf x", ASK),
        ("git *", "git status | git log; git show", ALLOW),
        ("git *", "git status | sh", ASK),
        ("git *", "git log $(rm x)", ASK),
        ("git *", "git log $(git rev-parse HEAD)", ALLOW),
        ("git *", "git log `rm x`", ASK),
        ("git *", "git log > .bashrc", ASK),
        ("git *", "git log 2>&1 >/dev/null", ALLOW),
        ("git *", "A=1 git log", ASK),
        ("git *", "PATH=.; git log", ASK),
        ("git *", "git() { rm x; }; git log", ASK),
        ("git *", "/tmp/git log", ASK),
        ("git *", "'git' log", ALLOW),
        ("git *", "$GIT log", ASK),
        ("git *", "git $X", ALLOW),
        ("git status", "git $X", ASK),
        ("git * --short", "git status --short", ALLOW),
        ("git * --short", "git $X --short", ASK),
        ("npm run test:*", "npm run test:unit", ALLOW),
        ("npm run test:*", "npm run build", ASK),
        ("cat src/*", "cat src/a/b", ALLOW),
        ("cat src/*", "cat src/../../etc/passwd", ASK),
        ("> out/*", "git x > out/log", ASK),
        ("*", "anything at all | sh > x", ALLOW),
        ("*", "anything `at` all", ASK),
        ("git status", "", ASK),
    ],
)
def test_a_rule_allows_only_what_it_covers_whole(rule, command, found):
    assert found is holds(command, f"execute({rule})=allow")


def test_each_part_of_a_command_may_have_a_rule_of_its_own():
    rules = "execute(git *)=allow, execute(> out/*)=allow, execute(tee)=allow"

    assert ALLOW is holds("git log | tee > out/log", rules)
    assert ASK is holds("git log | tee > ../log", rules)


@pytest.mark.parametrize(
    ("rule", "command", "found"),
    [
        ("rm *", "rm x", DENY),
        ("rm *", "ls; rm x", DENY),
        ("rm *", "/bin/rm x", DENY),
        ("rm *", "r''m x", DENY),
        ("rm *", "\\rm x", DENY),
        ("rm *", "A=1 rm x", DENY),
        ("rm *", "echo $(rm x)", DENY),
        ("rm *", "if true; then rm x; fi", DENY),
        ("rm *", "sudo rm x", DENY),
        ("rm *", "sudo -n rm x", DENY),
        ("rm *", "sudo -u root rm x", ASK),
        ("rm *", "env A=1 rm x", DENY),
        ("rm *", "xargs rm < list", DENY),
        ("rm *", "find . -exec rm {} +", ASK),
        ("rm *", "sh -c 'cd x && rm y'", DENY),
        ("rm *", "sudo bash -c \"sh -c 'rm y'\"", DENY),
        ("rm *", "eval 'rm x'", DENY),
        ("rm *", 'sh -c "$SCRIPT"', ASK),
        ("rm *", "`echo rm` x", ASK),
        ("rm *", "$RM x", ASK),
        ("rm *", "f() { rm x; }; f", ASK),
        ("rm *", "rm x; ls `y`", DENY),
        ("rm *", "grep rm x", ALLOW),
        ("rm *", "rmdir x", ALLOW),
        ("rm *", "echo 'rm x'", ALLOW),
        ("git push --force *", "git push origin", ALLOW),
        ("git push --force *", "git push $FLAGS", ASK),
        ("git push --force *", "git push --force", DENY),
        ("> /etc/*", "echo x > /etc/passwd", DENY),
        ("*", "ls", DENY),
    ],
)
def test_a_rule_denies_what_it_fits_and_asks_where_it_may_fit(rule, command, found):
    assert found is holds(command, f"execute({rule})=deny", ALLOW)


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("env -S 'rm x'", DENY),
        ("env -iS 'rm x'", DENY),
        ("env -S'rm x'", ASK),
        ("env -Srm", ASK),
        ("env -vSrm x", ASK),
        ("env --split-string='rm x'", ASK),
        ("env --split-string=rm x", ASK),
        ("env -S '-i rm x'", ASK),
        ("env -u A rm x", ASK),
        ("nice rm x", DENY),
        ("nice -n 5 rm x", ASK),
        ("timeout 5 rm x", ASK),
        ("xargs -I{} rm {}", DENY),
        ("xargs -0 sh -c 'rm $1' _", DENY),
        ("su --command='rm x'", ASK),
        ("su bob -c'rm x'", ASK),
        ("unbuffer rm x", DENY),
        ("fish -c 'rm x'", DENY),
        ("echo 'rm x' | sh", ASK),
        ("echo 'rm x' | sudo bash -", ASK),
        ("sh < script", ASK),
        ("env -u A ls", ALLOW),
        ("timeout 5 ls", ALLOW),
        ("nice -n5 git log", ALLOW),
        ("sh -c 'ls -la'", ALLOW),
        ("which sh", ALLOW),
    ],
)
def test_a_command_that_runs_others_is_looked_into_or_asked_about(command, found):
    assert found is holds(command, "execute(rm *)=deny", ALLOW)


@pytest.mark.parametrize(
    ("rules", "own", "command", "found"),
    [
        # an exception from a rule of the same place
        ("execute=ask, execute(git *)=allow", "", "git log", ALLOW),
        ("execute=ask, execute(git *)=allow", "", "ls", ASK),
        ("", "execute=ask, execute(git *)=allow", "git log", ALLOW),
        # deny wins, wherever it stands
        ("execute=deny, execute(git *)=allow", "", "git log", DENY),
        ("execute(git *)=allow", "execute(git push *)=deny", "git push", DENY),
        ("execute(git push *)=deny", "execute(git *)=allow", "git push", DENY),
        # ask wins over allow, where both are about these arguments
        ("execute(git *)=allow, execute(git push *)=ask", "", "git push", ASK),
        ("execute(git push *)=ask", "execute(git push *)=allow", "git push", ASK),
        # a deployment's rule cannot be widened by a user's
        ("execute=ask", "execute(git *)=allow", "git log", ASK),
        ("execute=ask", "execute=allow", "git log", ASK),
        ("*=ask", "execute(git *)=allow", "git log", ASK),
        # but users may be stricter than their deployment
        ("execute(git *)=allow", "execute=ask", "git log", ASK),
        ("execute=allow", "execute(git *)=ask", "git log", ASK),
        ("execute=allow", "execute(git *)=ask", "ls", ALLOW),
        # the policy is no rule: where no rule is about a call, users' rules hold
        ("", "execute(git *)=allow", "git log", ALLOW),
    ],
)
def test_rules_of_two_places_go_together(rules, own, command, found):
    assert found is holds(command, rules, own=own)


@pytest.mark.parametrize(
    ("rules", "granted", "command", "found"),
    [
        ("", ["execute(git *)"], "git log", ALLOW),
        ("", ["execute(git *)"], "git log; rm x", ASK),
        ("", ["execute(git *)", "execute(rm x)"], "git log; rm x", ALLOW),
        ("execute=ask", ["execute(git *)"], "git log", ALLOW),
        ("execute=deny", ["execute(git *)"], "git log", DENY),
        ("execute(git push *)=ask", ["execute(git push *)"], "git push", ALLOW),
        # consent to a whole tool is no consent to what a rule asks about by its arguments
        ("execute(git push *)=ask", ["execute"], "git push", ASK),
        ("execute(git push *)=ask", ["execute"], "ls", ALLOW),
        # what may be meant by a rule that denies is asked about each time
        ("execute(rm *)=deny", ["execute", "execute(*)"], "$X y", ASK),
        ("execute(rm *)=deny", ["execute", "execute(*)"], "x `y`", ASK),
        ("execute(rm *)=deny", ["execute"], "ls", ALLOW),
    ],
)
def test_consent_that_was_given_before_is_enough_for_what_it_was_given(
    rules, granted, command, found
):
    assert found is holds(command, rules, granted=granted)
    assert (DENY if found is DENY else ALLOW) is holds(command, rules, by_person=True)
    assert (DENY if found is ASK else found) is holds(command, rules, DENY, granted)


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("src/**", f"{HERE}/src/a/b.py", ALLOW),
        ("src/*", f"{HERE}/src/b.py", ALLOW),
        ("src/*", f"{HERE}/src/a/b.py", ASK),
        ("src/**", f"{HERE}/src/../.git/hooks/x", ASK),
        ("src/**", f"{HERE}/x/{HERE.removeprefix('/data/workspaces/')}/src/b.py", ASK),
        ("src/**", "/src/b.py", ASK),
        ("src/**", "src/b.py", ASK),
        ("**/*.md", f"{HERE}/docs/a.md", ALLOW),
        ("**", f"{HERE}/x", ALLOW),
        (f"{HERE}/src/**", f"{HERE}/src/b.py", ALLOW),
        (f"/{HERE}/src/**", f"//{HERE}//src/b.py", ALLOW),
    ],
)
def test_paths_are_compared_as_they_are_meant(pattern, path, found):
    consent = Consent(ASK, read_rules(f"write_file({pattern})=allow"))

    assert found is consent.to(WRITE, args(path=path, content=""))


def test_every_file_of_an_edit_counts():
    consent = Consent(ASK, read_rules("edit_files(src/**)=allow, edit_files(src/x)=deny"))

    def to(*paths):
        return consent.to(EDIT, args(files=[{"path": f"{HERE}/{path}"} for path in paths]))

    assert ALLOW is to("src/a", "src/b")
    assert ASK is to("src/a", "b")
    assert DENY is to("src/a", "src/x")
    assert ASK is to()


def test_arguments_of_other_tools_are_compared_by_name():
    rules = read_rules("linear__create_issue(team=OPS*; urgent=false)=allow")
    consent = Consent(ASK, rules)

    assert ALLOW is consent.to(LINEAR, args(team="OPS1", urgent=False, title="x"))
    assert ASK is consent.to(LINEAR, args(team="DEV", urgent=False))
    assert ASK is consent.to(LINEAR, args(team="OPS1", urgent=True))
    assert ASK is consent.to(LINEAR, args(team="OPS1"))
    assert ASK is consent.to(LINEAR, JsonText("[]"))


def test_a_start_of_a_server_is_never_freer_than_commands_are():
    denying = Consent(ALLOW, read_rules("execute(rm *)=deny"), frozenset({"execute"}))
    shown = frozenset({"start:kit:d1"})

    assert ASK is denying.to(START)
    assert ALLOW is replace(denying, granted=shown).to(START)
    assert ASK is Consent(ASK, read_rules("execute(*)=allow")).to(START)


@pytest.mark.parametrize(
    "text",
    [
        "execute()=allow",
        "execute(git status && ls)=allow",
        "execute($(ls))=allow",
        "execute('git)=allow",
        "exec*(git)=allow",
        "linear__create(OPS)=allow",
        "execute(git)=maybe",
        "execute(git)",
        "execute(git=allow",
        f"execute({'x' * (PATTERN_CHARACTERS_MAX + 1)})=allow",
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused_in_words(text):
    with pytest.raises(ValueError, match=r"\w"):
        read_rule(text)


def test_a_list_of_rules_may_have_commas_in_brackets():
    rules = read_rules("execute(git log --format=%h,%s *)=allow, write_file(a,b)=deny,x=ask")

    assert ["execute(git log --format=%h,%s *)=allow", "write_file(a,b)=deny", "x=ask"] == [
        str(rule) for rule in rules
    ]


@pytest.mark.parametrize(
    ("command", "suggested"),
    [
        ("git status -s", ("git status *",)),
        ("git -C x status", ("git -C x status",)),
        ("ls -la && cargo test --all", ("ls *", "cargo test *")),
        ("python -c 'print(1)' > 'a b'", ("python -c 'print(1)'", "> 'a b'")),
        ("rm -rf build", ("rm -rf build",)),
        ("rm $X", ()),
        ("python -c 'print(2*3)'", ()),
        ("ls `x`", ()),
        ("", ()),
    ],
)
def test_a_suggestion_allows_the_call_and_not_much_more(command, suggested):
    assert suggested == suggested_patterns("execute", args(command=command))
    if suggested:
        rules = ", ".join(f"execute({text})=allow" for text in suggested)
        assert ALLOW is holds(command, rules)


def test_files_are_suggested_by_their_folder():
    found = suggested_patterns("write_file", args(path=f"{HERE}/src/a/b.py"))

    assert ("src/a/**",) == found
    assert ("top.md",) == suggested_patterns("write_file", args(path=f"{HERE}/top.md"))


WORDS = st.sampled_from(
    [
        "git",
        "rm",
        "ls",
        "-f",
        "x",
        "$A",
        "*",
        "a/../b",
        "'q r'",
        "sudo",
        "sh",
        "-c",
        "'rm x'",
        "A=1",
    ]
)
COMMANDS = st.lists(
    st.lists(WORDS, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=3
).map(" && ".join)
PATTERNS = st.lists(
    st.sampled_from(["git", "rm", "ls", "x", "*", "-f", "sudo"]), min_size=1, max_size=3
).map(" ".join)
RULES = st.lists(st.tuples(PATTERNS, st.sampled_from(["allow", "ask", "deny"])), max_size=4)


@given(COMMANDS, RULES, RULES, st.sampled_from(Policy))
def test_a_further_rule_of_a_user_that_restricts_never_frees_anything(command, rules, own, policy):
    written = ",".join(f"execute({p})={w}" for p, w in dict(rules).items())
    theirs = ",".join(f"execute({p})={w}" for p, w in dict(own).items() if w != "allow")

    before = holds(command, written, policy)
    after = holds(command, written, policy, own=theirs)

    assert after is strictest([before, after])


@given(COMMANDS, RULES, RULES)
def test_no_rule_of_a_user_frees_what_a_deployment_restricts(command, rules, own):
    written = ",".join(f"execute({p})={w}" for p, w in dict(rules).items())
    theirs = ",".join(f"execute({p})={w}" for p, w in dict(own).items())
    consent = Consent(ALLOW, read_rules(written))
    restricted = consent.to(EXECUTE, args(command=command))

    found = holds(command, written, ALLOW, own=theirs)

    assert found is strictest([found, restricted])


@given(COMMANDS, COMMANDS, RULES)
def test_a_longer_command_is_never_freer_than_its_parts(one, other, rules):
    written = ",".join(f"execute({p})={w}" for p, w in dict(rules).items())

    both = holds(f"{one}; {other}", written)

    assert both is strictest([holds(one, written), holds(other, written)])


@pytest.mark.parametrize(
    ("rule", "call"),
    [
        (f"execute({'*a' * 60}b *)", {"command": "a" * 5_000}),
        (f"write_file({'*a' * 60}b)", {"path": f"{HERE}/{'a' * 5_000}"}),
        (f"write_file({'**a' * 60}b)", {"path": f"{HERE}/{'a' * 5_000}"}),
        (f"linear__create_issue(team={'*a' * 60}b)", {"team": "a" * 5_000}),
    ],
)
def test_no_pattern_takes_long_to_compare(rule, call):
    named = {one.tool.name: one for one in (EXECUTE, WRITE, LINEAR)}[rule.partition("(")[0]]
    began = time.thread_time()
    consent = Consent(ASK, read_rules(f"{rule}=allow"))
    assert ASK is consent.to(named, args(**call))
    assert time.thread_time() - began < 5


@pytest.mark.parametrize("text", [f"a{' ' * 3_000}x", "a(" + ")=" * 3_000 + "(", "(" * 3_000])
def test_what_is_no_rule_is_refused_at_once(text):
    began = time.thread_time()
    with pytest.raises(ValueError, match="is no rule"):
        read_rule(text)
    assert time.thread_time() - began < 5


@given(st.text("*a/", max_size=8), st.text("a/b", max_size=8))
def test_a_pattern_of_paths_is_compared_as_its_definition_says(pattern, path):
    pieces = (piece for piece in re.split(r"(\*+)", pattern))
    wild = (
        re.escape(p) if not p.startswith("*") else ".*" if len(p) > 1 else "[^/]*" for p in pieces
    )
    is_meant = re.fullmatch("".join(wild), path) is not None
    assert is_meant == path_matches(pattern, path)
    assert matches(pattern, path) == bool(
        re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), path)
    )


@pytest.mark.parametrize(
    "command",
    [
        f"sudo {'a ' * 30_000}",
        "; ".join([f"sudo {'a ' * 100}"] * 250),
        f"sh -c '{'a b; ' * 250}{'x' * 50_000}'",
        f"xargs {chr(39)}a b{chr(39)} " * 5_000,
        f"env {'-abcdefgh ' * 6_000}",
    ],
)
def test_no_command_takes_long_to_compare_with_many_rules(command):
    rules = ",".join(f"execute(rm{at} *)=deny" for at in range(100))
    began = time.thread_time()
    assert ASK is holds(command, rules)
    assert time.thread_time() - began < 5


def test_behind_many_words_of_a_program_that_runs_others_any_command_may_stand():
    assert ASK is holds(f"sudo {'a ' * WORDS_MAX}rm x", "execute(rm *)=deny", ALLOW)
    assert ASK is holds(f"sudo {'a ' * (WORDS_MAX - 2)}rm", "execute(rm)=deny", ALLOW)
    assert ALLOW is holds(f"sudo {'a ' * (WORDS_MAX - 2)}b", "execute(rm)=deny", ALLOW)


def test_an_assignment_that_appends_hides_no_command():
    assert DENY is holds("A+=b rm -rf x", "execute(rm *)=deny", ALLOW)
