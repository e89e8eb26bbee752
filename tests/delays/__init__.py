"""Waits that take longer than usual, at random, for tests that are red only now and then.

sitecustomize   delays waits of trio in every Python process that has this folder on its path
"""
