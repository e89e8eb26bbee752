"""The repositories in workspaces, as git and forges know them.

remotes   addresses of git remotes, as they may be shown               (pure)
looking   the command that looks at a repository, and its answer     (pure)
schedule  when a watched workspace is looked at                      (pure)
roots     the repositories that lie where calls have touched the disk
touched   the paths that the calls of chats have touched
runner    runs git for looks, in the sandbox of the workspace
trees     the actor that follows the working trees of one workspace
watching  who watches, and the actors that come and go with them
"""
