"""`promptcorner chat`: a chat in the terminal.

command       reads the arguments, talks or lists chats
reading/      turns what happens in a chat into text of a terminal
deciding/     holds what users are asked, what they may type, and the keys
place/        is the place to work in, where there is a terminal
requests      lists the requests that only the terminal makes
conversation  sends one message and shows its answer, for scripts and pipes
approvals     decides whether calls may run, by the user or by a flag
screen        draws one answer on a terminal, or writes it to a pipe
"""
