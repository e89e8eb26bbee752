"""Anthropic's models at AWS Bedrock.

aws       credentials, and the signature that shows them
events    AWS's event stream, and Anthropic's events in it
provider  the provider
"""
