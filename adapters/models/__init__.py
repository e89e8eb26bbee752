"""Which models there are, and how each is reached.

configured   a provider and a model as somebody set them up                         (pure)
environment  what the environment offers: keys that are there are providers         (pure)
connecting   a configured model as a provider that can be asked
choosing     the model of a chat's next call
prompting    stored rows, files and tools as the prompt for it
"""
