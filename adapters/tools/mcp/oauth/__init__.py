"""Tokens that a server of tools wants to see, by OAuth 2.

tokens     what an authorization server gives, and how it says no           (pure)
asking     its token and revocation endpoints
discovery  which authorization server a server of tools trusts, and our registration there
guard      requests to addresses that a stranger has named: never into our own network
"""
