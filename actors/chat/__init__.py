"""One leased chat: the actor that drives it, and what it asks of the world."""
