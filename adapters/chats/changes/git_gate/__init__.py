"""The gate by which git in a sandbox reaches forges without a token.

gates     the sockets of workspaces, and how git in their sandboxes finds them
passing   one request of git on its way to a forge
git_http  requests of git over HTTP: which may pass, and what is said in them          (pure)
relay     the program that git runs in the sandbox
"""
