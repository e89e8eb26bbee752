"""Anthropic Messages: the protocol, and the provider that speaks it.

wire      events and messages, as they are sent
request   a prompt as a request
events    the deltas of a stream or of a whole answer
provider  the provider
"""
