"""What has been said in a chat, as its users read it: in pages, and without what is hidden."""
