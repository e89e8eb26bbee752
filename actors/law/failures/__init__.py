"""What went wrong with a call to a provider: what is seen of it, what it is, how it is said."""
