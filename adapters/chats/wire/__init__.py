"""The schemas of chats, and how they are made of our types.

chats       chats as clients see them
cutting     large results as lists show them
diffs       pull requests and branches as clients see them
messages    messages, parts and errors, in responses and on streams
sending     requests and responses around messages and the queue
working_trees  the changes in the repositories of a workspace
"""
