"""The daemon: how its parts are put together, metrics and processes."""
