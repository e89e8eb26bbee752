"""OpenAI's Responses API, at OpenAI and at Azure."""
