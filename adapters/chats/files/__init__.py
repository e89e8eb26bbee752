"""Files of chats.

routes    upload, download, links
store     files that users bring and chats make, and their contents for models
"""
