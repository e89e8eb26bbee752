"""What watchers follow: previews of attempts, feeds of chats, and the relay between processes."""
