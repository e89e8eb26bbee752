"""Housekeeping: what goes when it is old, what may not go, and what users have erased.

lease     the lease on housekeeping, and chores that are a rule and its statements
rules     all rules by which things go when they are old
wiring    the housekeeper, put together
"""
