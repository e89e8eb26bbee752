"""What the rehearsal says, whatever is said to it."""

SAYS = (
    "This is a rehearsal, not a real model: it says these words whatever you write. "
    "The daemon works; what is missing is a provider. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or "
    "another key in its environment and start it again, or add a provider with its key through "
    "the API. From then on a real model answers here."
)
