"""The providers of models: a folder for each protocol, and the HTTP that all of them share.

anthropic/         Anthropic Messages: requests, events, provider
bedrock/           Anthropic's models at AWS: its event stream, its signatures, provider
bedrock_converse/  all other models at AWS: requests, responses, provider
google/            Gemini: requests, responses, provider
openai_chat/       Chat Completions: requests, responses, provider, for many vendors
openai_responses/  OpenAI Responses: requests, responses, provider
facts/             facts about models, by their names
dial               connections, over a proxy where there is one
http               the HTTP client of all providers, and the headers that name us
sockets            TCP and TLS that can be read without waiting
shared_reads       reading all answers that speak in one task
read_pace          when they are read again, and how many in a row
framing            the end of a response's body
sse                server-sent events
streaming          one call, from request to deltas
faults             the ways in which a call fails, and the failures that are told
"""
