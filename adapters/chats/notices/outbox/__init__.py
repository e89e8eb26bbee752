"""The outbox: events on their way to webhooks and devices, each until it is delivered or given up.

deliveries  deliveries, what came of an attempt, and what follows from it          (pure)
sender      sends what is due; one in each process, and each delivery by one of them
store       the outbox on PostgreSQL
"""
