"""Chat Completions: OpenAI's older interface, which most other vendors speak as well.

wire      requests and chunks, as they are sent
request   a prompt as a request
messages  the messages in it
response  the deltas of a stream or of a whole answer
pieces    tool calls and thoughts that arrive in pieces
provider  the provider
"""
