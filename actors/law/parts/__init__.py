"""Messages in pieces: what people, models and tools say, and what a provider is asked.

message    the parts of a message, and what a step took
deltas     changes to parts on their way from a provider, and how a call of a provider fails
assemble   deltas to parts
shell      shell commands, read without running them
shell_words  the words of shell commands
json_text  JSON that is kept as text
prompt     what a provider is asked, with the settings that only one family of providers knows
vendors    the vendors of models: one record for each
"""
