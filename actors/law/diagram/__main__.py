"""Writes the page, or says that it is stale: `python -m actors.law.diagram docs/states.md`."""

import argparse
from pathlib import Path

from actors.law.diagram.drawing import COMMAND, draw


def main() -> None:
    parser = argparse.ArgumentParser(description="draw the states of a stored chat")
    parser.add_argument("page", type=Path)
    parser.add_argument("--check", action="store_true", help="only fail if the page is stale")
    arguments = parser.parse_args()
    page: Path = arguments.page
    if not arguments.check:
        page.write_text(draw(), encoding="utf-8")
    elif not page.exists() or page.read_text(encoding="utf-8") != draw():
        raise SystemExit(f"{page}: not what the table of the law says, draw it anew: {COMMAND}")


if __name__ == "__main__":
    main()
