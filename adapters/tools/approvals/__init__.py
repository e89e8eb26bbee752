"""Consent over the API: what waits for it, who gives it, what is allowed always."""
