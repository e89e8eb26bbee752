"""Commands that ask a running daemon, over its API as anybody else would."""
