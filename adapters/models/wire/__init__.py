"""Wire types of the routes about providers, models and settings."""
