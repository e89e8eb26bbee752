"""What waits for a person's consent in a family of chats, and what people have decided."""
