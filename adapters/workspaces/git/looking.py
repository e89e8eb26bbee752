"""One look at a repository: git runs in the workspace's sandbox, and says how the working tree
differs from the last commit.

The repository is not trusted. What is in it may name programs to run (hooks, filters, drivers of
diffs, a file system monitor, ways to fetch) and may make git slow. So git runs in the sandbox that
commands have, with all of that switched off, and for a limited time. It writes nothing into the
repository and takes no lock there: it works on a copy of the index, to which files that are not
tracked are added by name, so that the diff has them too.

A look is made while a person waits, so it starts few programs, and what costs most is done only
where it is needed: without such files and without conflicts the index is not copied, and of a few
such files not all others are looked at once more.
"""

import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256

from adapters.workspaces.git.remotes import without_secrets

DIFF_BYTES_MAX = 3 * 1024 * 1024  # of one repository; of a longer diff only its size is told
LINE_BYTES_MAX = 4_096  # of the branch, the remote's address, an error; the rest is left out
FILTERS_MAX = 200  # settings of filters; a repository with more of them is not looked at
BINARY_BYTES = 16 * 1024 * 1024  # a larger file is shown as a binary one
NEW_FILES_BYTES_MAX = 8 * 1024  # of names that are added one by one; with more all are looked at
RENAMES_MAX = 200  # files that are compared to find renames; with more only equal ones are found
MEMORY_SCRATCH = "/dev/shm"  # of a sandbox alone, and gone with it
OUTPUT_BYTES_MAX = DIFF_BYTES_MAX + 4 * LINE_BYTES_MAX

# Settings of the repository and of the home directory that do not count here.
_SETTINGS = {
    "advice.addEmbeddedRepo": "false",
    "core.alternateRefsCommand": "",
    "core.askPass": "true",
    "core.bigFileThreshold": str(BINARY_BYTES),
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.quotePath": "false",
    "core.sshCommand": "false",
    "credential.helper": "",
    "diff.ignoreSubmodules": "dirty",
    "diff.mnemonicPrefix": "false",
    "diff.noprefix": "false",
    "protocol.allow": "never",
    "safe.directory": "*",
    "submodule.recurse": "false",
}
_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "true",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_TRACE2": "0",
    "GIT_TRACE2_EVENT": "0",
    "GIT_TRACE2_PERF": "0",
}

_DIFF = (
    "git diff --no-ext-diff --no-textconv --no-color --no-relative --unified=3"
    " --inter-hunk-context=0 --src-prefix=a/ --dst-prefix=b/ --submodule=short"
    f" --ignore-submodules=dirty --find-renames -l{RENAMES_MAX} -O/dev/null"
)

# The copy of the index keeps its time: git compares the content of files that are no older.
# What is said between two marks is as the repository has it, and the marks cannot be guessed.
_SCRIPT = f"""
mark=$1 root=$2 own=$3
say() {{ printf '\\n%s %s\\n' "$mark" "$1"; }}
fail() {{ say error; head -c {LINE_BYTES_MAX} "$own/error"; say end; exit 0; }}
command -v git >/dev/null || {{ say error; echo 'git is not installed'; say end; exit 0; }}
cd -- "$root" 2>/dev/null || {{ say gone; say end; exit 0; }}
case $own in {MEMORY_SCRATCH}/*) ;; *) trap 'rm -rf -- "$own"' EXIT ;; esac
[ ! -e "$own" ] || rm -rf -- "$own"
mkdir -p -- "$own/objects" || exit 1
: > "$own/error"

base= head=
places=$(git rev-parse --show-toplevel --git-path index --git-path objects \
  'HEAD^{{commit}}' --symbolic-full-name HEAD 2>"$own/error")
code=$?
{{ IFS= read -r top; IFS= read -r index; IFS= read -r objects
  IFS= read -r base; IFS= read -r head; }} <<END
$places
END
[ -n "$objects" ] || fail
if [ $code -ne 0 ]; then  # there is no commit yet, which is the usual reason
  base=$(git rev-parse -q --verify 'HEAD^{{commit}}' 2>/dev/null) ||
    base=$(git hash-object -t tree /dev/null)
  head=$(git symbolic-ref -q HEAD)
fi
[ "$top" = "$root" ] || {{ say gone; say end; exit 0; }}

count=$GIT_CONFIG_COUNT
filters=$(git config --name-only --get-regexp '^filter[.]' | head -n {FILTERS_MAX + 1})
while IFS= read -r key; do
  [ -n "$key" ] || continue
  export "GIT_CONFIG_KEY_$count=$key" "GIT_CONFIG_VALUE_$count="
  count=$((count + 1))
done <<END
$filters
END
if [ $((count - GIT_CONFIG_COUNT)) -gt {FILTERS_MAX} ]; then
  echo 'more than {FILTERS_MAX} settings of filters' > "$own/error"; fail
fi
export GIT_CONFIG_COUNT="$count"

case $objects in /*) ;; *) objects=$PWD/$objects ;; esac
case $objects in *[:\\"\\\\]*)
  objects=\\"$(printf %s "$objects" | sed 's/[\\\\"]/\\\\&/g')\\" ;;
esac
export GIT_OBJECT_DIRECTORY="$own/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$objects"

{{ git ls-files -z --others --unmerged --exclude-standard 2>"$own/error"
  echo $? > "$own/code"; }} | head -c {NEW_FILES_BYTES_MAX + 1} > "$own/new"
read -r code < "$own/code" || code=1
case $code in 0|141) ;; *) fail ;; esac
if [ -s "$own/new" ]; then
  if [ -f "$index" ]; then cp -p -- "$index" "$own/index" 2>"$own/error" || fail; fi
  export GIT_INDEX_FILE="$own/index"
  # Of a conflict git tells three numbers before the name, and of other new files the name alone.
  grep -qzE '^[0-7]{{6}} [0-9a-f]{{40,64}} [1-3]' "$own/new"
  if [ $? -ne 1 ] || [ "$(wc -c < "$own/new")" -gt {NEW_FILES_BYTES_MAX} ]
  then git add --intent-to-add --ignore-errors -- .
  else GIT_LITERAL_PATHSPECS=1 git add --intent-to-add --ignore-errors \
    --pathspec-from-file="$own/new" --pathspec-file-nul
  fi >/dev/null 2>"$own/error"
  [ $? -lt 128 ] || fail
fi
say branch; case $head in refs/heads/*) printf %.{LINE_BYTES_MAX}s "${{head#refs/heads/}}" ;; esac
say origin; git config --get remote.origin.url | head -c {LINE_BYTES_MAX}
say diff
{{ {_DIFF} "$base" -- 2>"$own/error"; echo $? > "$own/code"; }} | head -c {DIFF_BYTES_MAX + 1}
read -r code < "$own/code" || code=1
case $code in 0|141) say end ;; *) fail ;; esac
"""


@dataclass(frozen=True, slots=True)
class WorkingTree:
    """A repository as it was found: its branch, its remote, and its diff to the last commit."""

    branch: str  # "": no branch is checked out
    remote_origin: str = ""
    unified_diff: str = ""  # "": nothing is changed


@dataclass(frozen=True, slots=True)
class RepositoryGone:
    """There is no repository at this place any more."""


@dataclass(frozen=True, slots=True)
class LookFailed:
    """The repository could not be looked at; in words for people."""

    why: str


Look = WorkingTree | RepositoryGone | LookFailed


@dataclass(frozen=True, slots=True)
class TreeNews:
    """The news of one look for one watcher: the repositories that differ from what it knows, and
    what has gone wrong since."""

    scanned_at: datetime
    repositories: Mapping[str, WorkingTree | RepositoryGone] = field(default_factory=dict)
    troubles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LookCommand:
    """The command of one look, and the mark by which its output is read."""

    text: str
    mark: str


def look_command(root: str, scratch: str) -> LookCommand:
    """Return the command that looks at the repository at `root`. It may write below `scratch`, and
    what a look that was killed leaves there goes with the next one."""
    mark = secrets.token_hex(16)
    own = f"{scratch}/promptcorner-git-{sha256(root.encode()).hexdigest()[:16]}"
    return LookCommand(shlex.join(["sh", "-c", _SCRIPT, "sh", mark, root, own]), mark)


def look_variables(variables: Mapping[str, str], above_home: str) -> dict[str, str]:
    """Return the environment of a look: that of the workspace's commands, and what switches off
    the programs that a repository names. No repository is searched for in `above_home`."""
    told = {**variables, **_VARIABLES, "LC_ALL": "C", "GIT_CEILING_DIRECTORIES": above_home}
    told["GIT_CONFIG_COUNT"] = str(len(_SETTINGS))
    for number, (key, value) in enumerate(_SETTINGS.items()):
        told |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return told


def read_look(output: bytes, mark: str) -> Look:
    """Return what a look has found, from what it wrote."""
    said = _sections(output, mark)
    if "end" not in said:
        return LookFailed("git ended without an answer")
    if "gone" in said:
        return RepositoryGone()
    if "error" in said:
        return LookFailed(_line(said["error"]).removeprefix("fatal: ") or "git failed")
    return WorkingTree(
        _line(said.get("branch", b"")),
        without_secrets(_line(said.get("origin", b""))),
        _shown(said.get("diff", b"")),
    )


def too_large(size: str) -> str:
    """Return what stands in the place of a diff that is not told."""
    return (
        f"The diff is not shown: it is too large ({size}). Branch and remote are told all the same."
    )


def _sections(output: bytes, mark: str) -> dict[str, bytes]:
    parts: Sequence[bytes] = output.split(f"\n{mark} ".encode())
    return {
        name.decode(errors="replace"): content
        for name, _, content in (part.partition(b"\n") for part in parts[1:])
    }


def _line(content: bytes) -> str:
    return content.decode(errors="replace").strip().partition("\n")[0]


def _shown(diff: bytes) -> str:
    if len(diff) > DIFF_BYTES_MAX:
        return too_large(f"more than {DIFF_BYTES_MAX // 1024 // 1024} MiB")
    return diff.decode(errors="replace")
