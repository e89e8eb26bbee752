"""Gemini on Google's own interface: generateContent, at the Gemini API and at Vertex.

wire      requests and chunks, as they are sent
request   a prompt as a request
response  the deltas of a stream or of a whole answer
provider  the provider
"""
