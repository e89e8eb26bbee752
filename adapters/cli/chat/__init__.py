"""`promptcorner chat`: a chat in the terminal.

command       reads the arguments, talks or lists chats
conversation  sends what the user types, shows the answers, interrupts
approvals     decides whether calls may run, by the user or by a flag
screen        draws a chat on a terminal, or writes it to a pipe
"""
