"""OpenAI's Responses API, at OpenAI and at Azure.

wire      requests, items and events, as they are sent
request   a prompt as a request
response  the deltas of a stream or of a whole answer
provider  the provider
"""
