"""PostgreSQL from trio: psycopg's libpq, another way to wait.

connection  what everybody uses: run statements, read a snapshot, commit and know it
pool        a bounded number of connections
listening   LISTEN, with reconnects
link        one libpq connection: statements out, rows back, one trip for any number
outcome     what became of a COMMIT whose answer was lost
waiting     where libpq's waiting becomes trio's
values      statements and values on their way to the server and back
timeouts    how long what may take
faults      what can go wrong, sorted by what to do about it
reaching    whether a server of the user's own will do, said before anything is started
"""
