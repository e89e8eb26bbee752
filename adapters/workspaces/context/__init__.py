"""The context of a chat's workspace, and the words that a turn is told beside the conversation.

scan             one look at a workspace: what stands in it for agents
inotify          what the system tells of directories that change
watch            looks at workspaces when something in them changes
pins             what chats have pinned of their workspaces: rows, and snapshots in memory
pinned_contexts  what a chat knows of its workspace, the same in every turn
skills           the skills that a chat has, and the files beside a skill
turn_context     what a turn is told after the chat's own system rows
"""
