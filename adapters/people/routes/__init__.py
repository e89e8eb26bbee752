"""Routes about people: accounts, sessions, tokens, the organization, links that are used once."""
