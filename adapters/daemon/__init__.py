"""The daemon: how its parts are put together, metrics, processes and housekeeping."""
