"""The models of other makers than Anthropic at AWS Bedrock, over its Converse interface.

wire      its types
request   a prompt as its request
response  its events and answers as deltas
provider  the provider
"""
