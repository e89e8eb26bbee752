"""The shape in which a chat is shown: pure, from events to text of a terminal.

blocks       cuts an answer that grows into blocks of Markdown that are finished
diffs        shows the changes of files that a call makes, or would make
cards        shows calls of tools, how they end, and all of them for a pager
scrollback   decides what is printed for good, and what is still unfinished
drawing      draws items in colours, at a width, without what could harm a terminal
status_line  writes the line of state and the line of progress
exporting    writes a whole chat as Markdown
"""
