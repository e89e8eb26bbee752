"""What is asked of the store, what it answers, and the news it gives after a commit.

`ports` has the three questions (ledger: change a chat; leases: whose it is; reading: what holds),
`hints` the news. An adapter for PostgreSQL and the store in memory of the tests fulfil the same
contract.
"""
