"""PostgreSQL from trio: psycopg's libpq, with another way to wait.

connection    what the store uses: run statements, read a snapshot, commit and know it
faults        what can go wrong, sorted by what to do about it
libpq         one libpq connection: statements out, rows back, one trip for any number
listening     LISTEN, with reconnects
outcome       the outcome of a COMMIT whose answer was lost
pool          a bounded number of connections
server_check  whether a server of the user's own can be used
socket_waits  libpq's waiting, done by trio
timeouts      how long a connection may take, and for what
traffic       counts of what goes to the server
turns         who of those that wait for a connection is next, and for how long one waits
values        statements and values on their way to the server and back
"""
