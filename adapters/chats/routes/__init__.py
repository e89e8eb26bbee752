"""The routes of chats, one module for each subject.

chat_list          the list of chats, its search and its size
chats              created, shown, changed, their cost
desktop            the desktop, watched and operated by its owner
messages           read in pages, sent, edited
processes          the commands of a chat, followed while they run
queue              messages that wait for their turn
turns              interrupted, tried again, answered by the client's tools, compacted, put right
titles             titles asked of a model while the client waits
sharing            who may read a chat besides its owner
pull_requests      the diffs that forges tell, and users' tokens there
not_implemented    endpoints that clients know and that do nothing here
"""
