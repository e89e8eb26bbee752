"""From what is stored to what a provider is asked: choose, convert, pair, repair. Pure.

selecting       which rows the model sees; what another provider did is left out
converting      a row as what was said
files           a file as the target understands it
results         a stored tool result as an answer
pairing         every call has its answer, every answer its call
growing         all of these for a history that grows: each row once
provider_tools  the strict rules of Anthropic's own tools
projection      all of it, in order
"""
