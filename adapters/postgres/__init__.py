"""The store on PostgreSQL.

ledger      changes of chats: the law inside transactions
committing  changes of different chats as one statement
leases      who is at work
reading     what holds, one snapshot an answer
pulse       whether the database works, for the probes
journal     which tool calls have begun and ended
migrating   the schema, brought up to date
queries     the .sql files beside this module: the only place with SQL

driver      PostgreSQL from trio
codec       our types as they lie in the database
embedded    PostgreSQL as a part of the program
"""
