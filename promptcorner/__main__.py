"""The command `promptcorner`; its processes are started as `python -m promptcorner` too."""

import sys


def main() -> int:
    """Run the command; what a shell asks at each key of tab takes a short way."""
    if sys.argv[1:3] == ["completion", "words"]:
        from adapters.cli.completion import candidates

        return candidates.main(sys.argv[3:])
    from adapters.cli import main as commands

    return commands.main()


if __name__ == "__main__":
    sys.exit(main())
