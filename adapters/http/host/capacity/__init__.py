"""How many connections there may be, which gives way when there are too many, and what each one
costs the system.

`descriptors` shares of what the system gives · `places` who has one · `spare` the last descriptor
"""
