"""Benchmarks: one module answers one question about cost; `python -m bench` runs all of them.

Every figure that is judged is a ratio to a floor measured in the same run, or a count: absolute
times depend on the machine and its other work. Only `web` has budgets in milliseconds, too.
"""
