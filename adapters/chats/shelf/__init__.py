"""How chats are asked for and changed, apart from where that is written.

creating   a request for a new chat, field by field
labelling  which labels there may be                              (pure)
searching  the words of a search → which chats are wanted         (pure)
repeating  requests that come again under the name they had before
"""
