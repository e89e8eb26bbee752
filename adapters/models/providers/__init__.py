"""Providers of models: their protocols, and the connections to them."""
