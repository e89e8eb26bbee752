"""The store on PostgreSQL.

For other rooms:
bus                  the bus of one process
codec.parts          the content of messages, as JSON
codec.rows           the rows of chats, messages and queues
codec.writing        changes as they are sent to be written
committing           changes of different chats as one statement
database             the database that is configured, and whether it works
driver.connection    a connection: statements, transactions
driver.faults        faults of the database
driver.pool          a bounded number of connections
driver.server_check  whether a server of the user's own can be used
driver.timeouts      how long a connection may take
driver.values        statements and values on their way
dump                 a database to a stream of bytes, and back
embedded             PostgreSQL as a part of the program
family               families of chats
hints                hints between processes
journal              which tool calls have begun and ended
leases               which process holds which chat
ledger               changes of chats: the law inside transactions
migrating            the schema, brought up to date
queries              named SQL, and the records of rows
reading              chats and pages of histories

Inside:
codec                our types as they lie in the database
driver               PostgreSQL from trio
"""
