"""Accounts, tokens, sessions, passwords and scopes."""
