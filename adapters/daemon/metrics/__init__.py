"""What is counted, for Prometheus.

`figures` every metric there is, and the page with them · `telemetry` what turns tell of
models and tools · `pools` how full it is · `flattened` statistics of long-lived objects as
metrics.
"""
