"""The catalogue's rows of the API: providers and keys, models, settings, skills."""
