"""Anthropic's models at AWS Bedrock: another transport, another signature, the same messages."""
