"""The tools of chats.

toolbox    all sources of tools as one toolset for a turn
built_in   the sources of our own tools, in their order
schemas    the arguments of a tool as a struct, and its schema
deeds      how tools of ours are served
agents     agents of a chat
workspace  files and commands of its workspace
lifecycle  workspaces are made, started and stopped
servers    tools of servers, and those that are only found
planning   plans and questions
skills     skills are read
advisor    advice
declared   those that a chat's client executes
"""
