"""The vendors' wire formats: a request's bytes become a ModelRequest, an answer becomes bytes.

Each vendor's module has `read`, `stream`, `whole`, `refusal` and `error_event`; none knows another.

anthropic         Anthropic Messages
google            Gemini
openai_chat       OpenAI Chat Completions
openai_responses  OpenAI Responses
openai_errors     the refusals of OpenAI
http              JSON, server-sent events and heads
"""
