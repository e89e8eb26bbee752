"""What things cost. One module, one question; `python -m bench` asks all of them.

Every figure that is judged is a ratio to a floor measured in the same run, or a count: absolute
times depend on the machine and its other work.
"""
