"""Housekeeping: what goes when it is old, what may not go, and what users have erased.

lease           the lease on housekeeping, and chores that are a rule and its statements
rules           all rules by which things go when they are old
chores          chores that are more: families are archived, and erased when they were for long
erasing         erasing families of chats, and what else users have
holds           legal holds, on PostgreSQL
schemas         housekeeping as JSON
pass_routes     the endpoints of housekeeping itself
hold_routes     the endpoints of legal holds
erasure_routes  the endpoints by which things are erased, and receipts
wiring          all of it, put together
"""
