"""Work that nobody waits for, and calls of a model that no step is made of.

jobs    a bounded, supervised home for detached work
asking  one question to a model beside the turn, again and again until it is answered
"""
