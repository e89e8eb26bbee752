"""Backups: what a file of one holds, how it is made, and how it becomes a database again."""
