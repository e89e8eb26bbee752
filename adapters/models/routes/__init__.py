"""The catalogue's part of the API: providers and keys, models, settings, skills.

all_routes           all endpoints of the catalogue, with what they need
providers            /api/v2/ai/providers
model_configs        /chats/model-configs, and the models that a user can ask (/chats/models)
organization_models  /organizations/{organization}/chats/models: the same for newer clients
known_models         the models that a vendor is known to have
settings             /chats/config: what administrators set for the deployment
user_settings        /chats/config/user-…: what users set for themselves
user_keys            /users/{user}/ai-provider-keys
skills               /users/{user}/skills
checks               the checks of what clients write
presenters           providers and models as clients see them
wire                 the JSON of requests and answers
"""
