"""Who may see and change a chat, and how a request for a change reaches the ledger."""
