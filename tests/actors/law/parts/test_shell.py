"""Shell commands are read as real shells run them, or not at all."""

import os
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.law.parts.shell import (
    CHARACTERS_MAX,
    DEPTH_MAX,
    PARTS_MAX,
    parsed_commands,
    read_command,
)
from tests.patience import PATIENCE_SECONDS


def read(text):
    """Return the parts of a command as texts; a word that a shell expands ends with a ?."""
    found = read_command(text)
    assert not found.unread, found.unread
    return [
        " ".join(word.text if word.is_fixed else f"{word.text}?" for word in part.words)
        for part in found.parts
    ]


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("git status", ["git status"]),
        ("git status && rm -rf x", ["git status", "rm -rf x"]),
        ("a;b||c&d|e\nf", ["a", "b", "c", "d", "e", "f"]),
        ("! a", ["a"]),
        ("A=1 B=2 make -j2", ["A=1 B=2 make -j2"]),
        ("PATH=. ; ls", ["PATH=.", "ls"]),
        ("echo 'a  b' \"c d\" e\\ f", ["echo a  b c d e f"]),
        ("r''m x", ["rm x"]),
        ("echo 'it'\\''s' # and so on\nls", ["echo it's", "ls"]),
        ("echo a#b", ["echo a#b"]),
        ("ls \\\n  -l", ["ls -l"]),
        ("rm *.py a?b [ab] ~/x {a,b} {}", ["rm *.py? a?b? [ab]? ~/x? {a,b}? {}"]),
        ("rm '*.py' \"~\" a\\*", ["rm *.py ~ a*"]),
        ("[ -f x ]", ["[ -f x ]"]),
        ('echo $A "${B}" \'$C\' $ "$"', ["echo $A? ${B}? $C $ $"]),
        ("echo $(rm x) y", ["echo $(rm x)? y", "rm x"]),
        ('echo "a $(git log "b") c"', ['echo a $(git log "b") c?', "git log b"]),
        ("a=$(b; c)", ["a=$(b; c)?", "b", "c"]),
        ("(cd a && ls) > /dev/null 2>&1 &", ["cd a", "ls"]),
        ("{ a; b; } > f", ["a", "b", "> f"]),
        ("a >f <g 2>>h >|i <>j", ["a", "> f", "< g", "> h", "> i", "< j", "> j"]),
        ("> f", ["> f"]),
        ("a > $X", ["a", "> $X?"]),
        ("if a; then b; elif c; then d; else e; fi", list("abcde")),
        ("while a; do b; done < f | c", ["a", "b", "< f", "c"]),
        ("until a\ndo\nb\ndone", ["a", "b"]),
        ("for f in *.py $(a); do b $f; done", ["a", "b $f?"]),
        ("for f; do b; done", ["b"]),
        ("case $1 in (a|b) c ;; *) d;; esac; e", ["c", "d", "e"]),
        ("case x in a) b\nesac", ["b"]),
        ("cat <<'EOF' > f\nrm $(x)\nEOF\nls", ["cat", "> f", "ls"]),
        ("cat <<-E; b\n\tx $HOME\n\tE\nc", ["cat", "b", "c"]),
        ("echo if then", ["echo if then"]),
        ("'if' a", ["if a"]),
        ("echo caf\u00e9 'caf\u00e9'", ["echo caf\u00e9? caf\u00e9"]),
        ("", []),
        ("# nothing", []),
    ],
)
def test_a_command_is_read_in_its_parts(command, parts):
    assert parts == read(command)


@pytest.mark.parametrize(
    "command",
    [
        "echo `a`",
        "echo $((1 + 1))",
        "((a))",
        "echo ${A:-$(b)}",
        "echo $'a'",
        'echo $"a"',
        "a |& b",
        "a &> b",
        "a >& b",
        "a <<< b",
        "a <(b)",
        "a < /dev/tcp/example.com/80",
        "[[ a && b ]]",
        "f() { rm x; }",
        "function f { a; }",
        "time a",
        "a=(b c)",
        "select a in b; do c; done",
        "a ;& b",
        "i\\\nf a",
        "!\\\n rm x",
        'echo "$\\\n(rm x)"',
        "echo 'a",
        'echo "a',
        "a \\",
        "(a",
        "a)",
        "if a; then b",
        "fi",
        "a ||",
        "| a",
        "&& a",
        "a ;; b",
        "cat <<E\n$(rm x)\nE",
        "cat <<E\n`rm x`\nE",
        "cat <<E\nx\\\nE\nrm x\nE",
        "cat <<E\nx",
        "cat <<E",
        "cat <<$E\n$E",
        "(cat <<E)\nx\nE",
        "a\r\nb",
        "a\0b",
        "( " * DEPTH_MAX + "a" + " )" * DEPTH_MAX,
        "a;" * (PARTS_MAX + 1),
        "a" * (CHARACTERS_MAX + 1),
    ],
)
def test_what_shells_read_differently_or_refuse_is_not_guessed(command):
    assert read_command(command).unread


@pytest.mark.parametrize(
    "command",
    [
        # Shells take the line behind the bracket for the text of the here-document.
        "git log <<'git status'; (\ngit status\ngit log )\nrm -rf x\ngit status",
        "git log <<E $(git log\nE\n)\nrm -rf x\nE",
        "a='b[$(rm x)]'; echo $[a]",
        "a='b[$(rm x)]'; echo \"$[a]\"",
        "a='b[$(rm x)]'; cat <<E\n$[a]\nE",
    ],
)
def test_what_could_hide_a_command_counts_as_unread(command):
    assert read_command(command).unread


def test_what_was_read_before_is_known_all_the_same():
    found = read_command("git push; echo `a`")

    assert found.unread
    assert "git push" == " ".join(word.text for word in found.parts[0].words)


def test_bounds_hold_at_the_last_that_fits():
    assert ["a"] == read("( " * (DEPTH_MAX - 1) + "a" + " )" * (DEPTH_MAX - 1))
    assert PARTS_MAX == len(read("a;" * PARTS_MAX))
    assert ["a" * CHARACTERS_MAX] == read("a" * CHARACTERS_MAX)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("git status | head", (("git", "status"), ("head",))),
        ("A=1 make test > log", (("make", "test"),)),
        ("A=1", ()),
        ("ls -l && `x`", (("ls", "-l"),)),
    ],
)
def test_clients_are_shown_each_program_with_its_first_argument(command, shown):
    assert shown == parsed_commands(command)


# What real shells start is among the parts, whatever is thrown together.

PROGRAMS = ("pa", "pb", "pc")
PIECES = (
    *("pa", "pb", "pc", "pa x", "pb 'y z'", 'pc "w"', "x", "-v", "$A", '"$B"', "$(", ")", "(", "{"),
    *(
        "}",
        ";",
        "&&",
        "||",
        "|",
        "&",
        "!",
        "\n",
        "\\\n",
        "\\",
        "'",
        '"',
        "if",
        "then",
        "else",
        "fi",
    ),
    *(
        "for i in 1 2",
        "while",
        "do",
        "done",
        "case x in x)",
        ";;",
        "esac",
        "#",
        "A=1",
        "A=pa",
        "\t",
    ),
    *(
        "<<E\n",
        "\nE\n",
        "<<'E'\n",
        ">/dev/null",
        "2>&1",
        "*",
        "~",
        "{pa,pb}",
        "$",
        "`",
        "f()",
        "eval",
    ),
    *("[[", "]]", "&>", "|&", "time", "\u00a0", "\r", "$'pa'", "${A}", "=", "[", "]"),
)
RECORDER = """#!/bin/sh
line="${0##*/}"
for each; do line="$line $each"; done
printf "%s\\000" "$line" >> "$LOG"
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    for name in PROGRAMS:
        (folder / name).write_text(RECORDER)
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_real_shell_starts_nothing_that_was_not_read(shell, programs, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} on this machine")
    log = tmp_path / "log"
    cwd = tmp_path / "empty"
    cwd.mkdir()
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "LOG": str(log), "HOME": str(cwd)}

    @settings(max_examples=250)
    @given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(("", " "))), max_size=12))
    def runs(pieces):
        command = "".join(piece + blank for piece, blank in pieces)
        found = read_command(command)
        if found.unread or not any(program in command for program in PROGRAMS):
            return
        log.write_text("")
        run_to_the_end([shell, "-c", command], env=environment, cwd=cwd)
        started = log.read_text().split("\0")[:-1]
        assert [] == [line for line in started if not _is_read(line, found.parts)], command

    runs()


def run_to_the_end(command, **where):
    """Run a program, and wait until all that it has started is gone: each holds a pipe open."""
    ended, held = os.pipe()
    silent = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    with subprocess.Popen(command, pass_fds=(held,), **silent, **where) as process:
        os.close(held)
        with open(ended, "rb") as pipe:
            pipe.read()
        process.wait(PATIENCE_SECONDS)


def _is_read(line, parts):
    return any(_may_become(line, part.program) for part in parts if part.program)


def _may_become(line, program):
    """Return whether a part may start what was started: its words are the same up to the first that
    the shell expands. What `eval` runs is its arguments."""
    if program[0].text == "eval":
        return _is_read(line, read_command(" ".join(word.text for word in program[1:])).parts)
    fixed = []
    for word in program:
        if not word.is_fixed:
            return line.startswith(" ".join(fixed))
        fixed.append(word.text)
    return " ".join(fixed) == line
