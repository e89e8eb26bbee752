"""Chat Completions: OpenAI's older interface, and the one that everybody else speaks too."""
