"""The headers by which a server knows us, and for whom we ask. Pure; what is in them is secret."""

from collections.abc import Mapping

from actors.law.chat import Chat
from adapters.tools.mcp.oauth.tokens import Token
from adapters.tools.mcp.servers import Server

WORKSPACE_HEADER = "X-Promptcorner-Workspace-Id"


def shown_to(server: Server, chat: Chat, token: Token | None) -> Mapping[str, str]:
    """What shows who we are comes first: nothing else takes the place of it."""
    headers = dict(credentials(server, token))
    taken = {name.lower() for name in headers}
    if server.config.forward_coder_headers:
        headers |= {k: v for k, v in _identity(chat).items() if k.lower() not in taken}
    return headers


def credentials(server: Server, token: Token | None) -> Mapping[str, str]:
    config, secrets = server.config, server.secrets
    match config.auth_type:
        case "api_key" if config.api_key_header and secrets.api_key_value:
            return {config.api_key_header: secrets.api_key_value}
        case "custom_headers":
            return secrets.custom_headers
        case "oauth2" if token is not None and token.access_token:
            return {"Authorization": f"{token.scheme} {token.access_token}"}
        case _:
            return {}


def _identity(chat: Chat) -> Mapping[str, str]:
    headers = {
        "X-Promptcorner-Owner-Id": str(chat.owner_id),
        "X-Promptcorner-Chat-Id": str(chat.root),
    }
    if not chat.is_root:
        headers["X-Promptcorner-Subchat-Id"] = str(chat.id)
    if chat.workspace_id is not None:
        headers[WORKSPACE_HEADER] = str(chat.workspace_id)
    return headers
