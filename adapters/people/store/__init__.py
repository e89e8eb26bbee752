"""People on PostgreSQL: users, tokens, invitations, the deployment that they belong to."""
