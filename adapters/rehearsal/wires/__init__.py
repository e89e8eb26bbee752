"""The vendors' wire formats, one module each: a request's bytes to Asked, an answer to bytes.

Each has `read`, `stream`, `whole`, `refused` and `error_event`, and none knows another.
"""
