"""Files that users have brought: what they are, and what is in them."""
