"""Anthropic Messages: the protocol, and the provider that speaks it."""
