"""The tokens that a server of tools wants to see, by OAuth 2.

token_endpoint  the token and revocation endpoints of an authorization server
discovery       the authorization server that a server of tools trusts, and our registration there
metadata        the words of servers of tools and authorization servers about themselves (pure)
challenges      what a server that refuses wants, and the scopes that users are asked for (pure)
guard           requests to addresses that a stranger has named: never into our own network
"""
