"""Play the law against a plain program for as long as asked: `python -m tests.models.soak [steps]`.

Progress is one line a round. A failure prints its seed; `--seed` plays from there again. The store
has a soak of its own: PROMPTCORNER_SOAK=100 pytest tests/models/test_store.py.
"""

import argparse
import itertools
import sys
import time

from tests.models import test_law

CHATS_PER_ROUND = 1000


def soak(*, steps, seed):
    """Chats, one per seed, until `steps` requests or bundles have been asked."""
    began, asked = time.monotonic(), 0
    for number in itertools.count(seed):
        try:
            asked += test_law.play(number)
        except Exception:
            print(f"seed {number} failed; again: --seed {number} 1", file=sys.stderr)
            raise
        if asked >= steps or number % CHATS_PER_ROUND == 0:
            rate = asked / (time.monotonic() - began)
            print(f"seed {number}: {asked:,} of {steps:,} steps, {rate:,.0f}/s", flush=True)
        if asked >= steps:
            return


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.models.soak", description=__doc__)
    parser.add_argument("steps", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    arguments = parser.parse_args()
    soak(steps=arguments.steps, seed=arguments.seed)


if __name__ == "__main__":
    main()
