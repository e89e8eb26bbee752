"""`python -m bench [MODULE …]`: ask all questions, or some; exit 1 if a target is missed."""

import json
import subprocess
import sys
from importlib import import_module

from bench.report import Result, kept, save, show

MODULES = (
    "mailbox",
    "idle_actors",
    "commit",
    "delta",
    "turn",
    "spend",
    "silent_chats",
    "small_get",
    "fanout",
    "relay",
    "first_words",
    "processes",
    "agents",
    "tool_batch",
    "projection",
    "housekeeping",
    "many_stored",
    "working_tree",
    "web",
    "desktop",
    "terminal",
)
SECONDS_MAX = 900  # for one module; then it is ended, and the run with it


def main() -> int:
    chosen = sys.argv[1:] or MODULES
    unknown = [name for name in chosen if name not in MODULES]
    if unknown:
        print(f"bench: no module {', '.join(unknown)}; there are {', '.join(MODULES)}")
        return 2
    results = []
    for name in chosen:
        results.append(_measured(name))
        print("\n".join(results[-1].lines()), flush=True)
        save(results[-1])
    show([result for result in map(_last, MODULES) if result is not None])
    return 0 if all(result.met for result in results) else 1


def _last(name: str) -> Result | None:
    figures, module = kept(name), import_module(f"bench.{name}")
    if figures is None or any(target.figure not in figures for target in module.TARGETS):
        return None  # never asked, or asked otherwise then
    return Result(name, module.QUESTION, figures, module.TARGETS)


def _measured(name: str) -> Result:
    """Run a module in a process of its own, so that its memory is not that of another."""
    code = f"import json; from bench.{name} import measure; print(json.dumps(measure()))"
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, timeout=SECONDS_MAX
    )
    module = import_module(f"bench.{name}")
    return Result(name, module.QUESTION, json.loads(done.stdout), module.TARGETS)


if __name__ == "__main__":
    sys.exit(main())
