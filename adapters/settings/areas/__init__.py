"""Settings of one area each, as bases of `Config`: the table has no room for all of them.

oversight   policy hooks, and records of model calls
"""
