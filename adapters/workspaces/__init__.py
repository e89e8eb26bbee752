"""The places where chats work on this machine: directories, and commands in a sandbox.

beneath     a path below a directory, walked so that no link leads out of it
disk        threads and programs that touch the disks of workspaces, which may hang
files       the files of one workspace
commands    the commands that run in workspaces
templates   what workspaces are made of, and how a directory is made of that
usage       which workspaces are used, and how much of the disk they take
store       the rows of workspaces in PostgreSQL
local       the workspaces of chats: their files and their commands
caretaker   stops workspaces that are idle, removes those that are not needed
lifecycle   makes, starts and stops the workspaces of chats
routes      the endpoints of workspaces and templates
context     what a chat knows of its workspace
"""
