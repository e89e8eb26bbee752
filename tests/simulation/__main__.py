"""Play one seed and print what happens: `python -m tests.simulation SEED [KIND OF LIFE]`."""

import sys

from tests.simulation.story import Failed, line, run

if __name__ == "__main__":
    try:
        print("\n".join(map(line, run(int(sys.argv[1]), *sys.argv[2:]))))
    except Failed as failed:
        sys.exit(str(failed))
