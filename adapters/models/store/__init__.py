"""What the catalogue is made of, on PostgreSQL: providers, models, settings, skills.

Every change is told as news once it is committed; whoever keeps a copy reads again.
"""
