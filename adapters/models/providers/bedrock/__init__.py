"""Anthropic's models at AWS Bedrock.

aws       credentials, and the signature that shows them
endpoint  requests to a region, for the other models there, too
events    AWS's event stream, and Anthropic's events in it
provider  the provider
"""
