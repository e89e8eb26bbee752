"""The stored catalogue, on PostgreSQL: providers, models, settings, skills.

Every change is told as news once it is committed; what keeps a copy reads again.

catalogue  all of it, read at once (catalogue.sql)
providers  providers, keys and models, as they are written (providers.sql, configs.sql)
settings   settings and skills, as they are written (settings.sql)
"""
