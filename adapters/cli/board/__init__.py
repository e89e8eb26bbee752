"""`promptcorner chats`: all chats of a user on one screen, those that need the user first.

command   reads the arguments; opens the board, or prints a table once
live      runs the board: keys, news of chats, details, frames
news      follows the list of chats, over connections that break
details   asks what a chat costs, and what it does now
rows      makes rows of chats, sorted by who has to act, and of keys what to do  (pure)
drawing   draws rows as the lines of a screen                                   (pure)
"""
