"""Servers of tools as they are stored, and what users show there."""
