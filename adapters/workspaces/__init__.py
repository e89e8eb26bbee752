"""Where chats work, on this machine: directories, and commands in a sandbox.

beneath     a path below a directory, walked so that nobody leads us out of it
disks       what touches the disks of workspaces, which may hang
files       the files of one workspace
bubblewrap  what a command sees of the machine, as arguments of bwrap           (pure)
sandbox     how commands are run: in the sandbox, without one, or not at all
process_groups  programs that end with this process, however it ends
processes   commands that run, and what they have written
beside      commands that run in other processes of this machine
templates   what a workspace can be made of, as the operator has laid it out
making      a workspace, made of a template
planning    plans of chats, as files
caretaker   used, idle, removed, too large: how long a workspace is kept
usage       which are worked in, and how much of the disk they take
local       the workspaces of chats: their files and commands
lifecycle   made, set up, started and stopped
"""
