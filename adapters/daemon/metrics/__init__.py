"""Metrics for Prometheus.

figures    declares every metric, and makes the page with them
telemetry  counts what turns tell of models and tools
flattened  turns the statistics of long-lived objects into metrics
"""
