"""What chats have pinned of their workspaces."""
