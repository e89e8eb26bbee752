"""The command `promptcorner`; its processes are started as `python -m promptcorner` too."""

import sys

from adapters.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
