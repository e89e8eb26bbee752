"""Titles, summaries and advice: what is asked of a model beside a turn."""
