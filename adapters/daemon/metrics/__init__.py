"""What is counted, for Prometheus.

`figures` every metric there is, and the page with them · `measuring` the world of the chats, seen
on its way: models, tools · `pools` how full it is · `flattened` statistics of long-lived objects as
metrics.
"""
