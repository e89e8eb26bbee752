"""The place to work in: the window at the bottom of a terminal, or plain lines; on asyncio.

run         begins and ends the conversation
window      holds the window, and prints above it
layout      lays its parts out
bindings    binds the keys
plain       is the front of screen readers, lines in and lines out
desk        does what lines and keys say
commands    does what commands with a slash say
live_chat   follows a chat, speaks to it, decides about calls
completing  completes commands, models, chats and `@files`
attaching   uploads files, reads the clipboard, writes exports
devices     knows the terminal: colours, history, pager, bell
"""
