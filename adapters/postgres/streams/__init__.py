"""What watchers ask of the database: a chat as it stands, and which of many chats have moved on."""
