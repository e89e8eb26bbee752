"""People on PostgreSQL.

deployment  the deployment, its first admin, and one-time links
tokens      tokens, and when they were used
users       users
"""
