"""What an agent is given beside its conversation.

standing     the words that hold for a turn, in their order
skills       which skills a chat has; kept in memory
pinned       what a chat knows of its workspace, the same in every turn
snapshots    that, in memory
looking      one look at a workspace
notices      what the system tells of directories that change
watching     workspaces are looked at when something moves
skill_files  what lies beside a skill
opening      what chats know of their workspaces, put together
"""
