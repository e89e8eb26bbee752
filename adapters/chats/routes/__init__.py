"""The subjects of the API: what each of its rows does."""
