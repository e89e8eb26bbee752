"""The actor kernel: mailboxes, cancel scopes with causes, supervised children, threads, time.

It knows trio and the standard library, and nothing of chats, databases or HTTP. SEMANTICS.md is its
contract, on one page.

mailbox     a bounded queue with one reader, its address, and the replies to asks
children    a supervised nursery
scope       a cancel scope that knows why it was cancelled
ends        why work was told to stop, and how it ended
restart     when a child that has crashed is started again
backoff     how long to wait before the next try
threads     threads for work that blocks, with bounds for each kind of work
statistics  the records that `statistics()` returns
log         log entries with fields
errors      what the kernel raises
lag         how far the event loop is behind
clock       the only place that reads time
"""
