"""The policy hooks in a turn.

outcomes   what the answers of a hook make of the messages of a step; pure
points     the points at which it is asked
"""
