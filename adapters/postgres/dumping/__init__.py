"""A whole database as a stream of bytes, and back: by PostgreSQL's own programs, from the wheel."""
