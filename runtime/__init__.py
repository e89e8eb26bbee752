"""The actor kernel: mailboxes, caused scopes, supervised children, threads, time.

Knows trio and the standard library; knows nothing of chats, databases or HTTP.
Its contract is SEMANTICS.md, one page.
"""
