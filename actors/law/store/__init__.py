"""The store as the actors see it: what they ask of it, and the news that follow a commit.

An adapter for PostgreSQL and the store in memory of the tests fulfil the same contract.

ports  the ledger, the leases, the reading of chats, the bus, and what they answer
hints  the news of a commit
news   which change is news for its owner, and for programs that listen
needs  what a request has to know of a chat beside its columns
retry  the retry of a store that is away for a moment
"""
