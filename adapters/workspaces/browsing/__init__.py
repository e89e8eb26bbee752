"""The files of a workspace as people look at them: listed, read, and downloaded.

listing  the entries of a directory, in pages
reading  the bytes of one file, and ranges of them
archive  a directory as a zip file, made while it is sent
ignored  the entries that git ignores
browser  the files of the workspaces of this machine
routes   the endpoints of all that
"""
