"""Who asks, and how he shows it: tokens, passwords, sessions of browsers, tickets of streams."""
