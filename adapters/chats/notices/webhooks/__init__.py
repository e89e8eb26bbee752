"""Webhooks: programs of others that are told of events, by the Standard Webhooks convention.

posting     an event posted to a webhook, signed
routes      webhooks over the API: of users, and of the deployment
schemas     webhooks and their deliveries as JSON
signing     the headers and signatures of a message                              (pure)
store       webhooks on PostgreSQL
"""
