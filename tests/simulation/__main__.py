"""Play one seed and print what happens: `python -m tests.simulation SEED`, or `SEED families`."""

import sys

from tests.simulation.story import Failed, line, run

if __name__ == "__main__":
    try:
        print("\n".join(map(line, run(int(sys.argv[1]), families="families" in sys.argv))))
    except Failed as failed:
        sys.exit(str(failed))
