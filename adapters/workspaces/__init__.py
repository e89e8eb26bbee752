"""The places where chats work on this machine: directories, and commands in a sandbox.

For other rooms:
    local                    the workspaces of chats: their files and their commands
    lifecycle                makes, starts and stops the workspaces of chats
    store                    the rows of workspaces in PostgreSQL
    templates                what workspaces are made of, and how a directory is made of that
    disk                     threads and programs that touch disks, which may hang
    schemas                  the JSON of workspaces and templates
    routes                   the endpoints of workspaces and templates
    commands.processes       the commands that run in this process
    commands.peers           commands that run in other processes of this machine
    commands.process_groups  programs that end with this process, however it ends
    commands.sandbox         how commands are run: in a sandbox, without one, or not at all
    browsing.browser         the files of workspaces, as people look at them
    browsing.routes          the endpoints of the files of workspaces
    terminals.sharing        terminals of people in workspaces, in all processes of this machine
    terminals.routes         the endpoints of terminals
    desktop.connection       a connection to a screen: pictures of it, pointer and keys
    desktop.desktops         the desktops of this process: started, found, watched, ended
    desktop.recording        films of desktops, made while a parent waits
    desktop.pictures         pictures of a screen, scaled and packed
    desktop.programs         the programs that a desktop is made of
    git.looking              the command that looks at a repository, and its answer
    git.trees                the actor that follows the working trees of one workspace
    git.watching             who watches, and the actors that come and go with them
    context.pinned_contexts  what a chat knows of its workspace
    context.skills           the skills that a chat has
    context.turn_context     what a turn is told after the chat's own system rows

Inside:
    safe_paths               a path below a directory, walked so that no link leads out of it
    files                    the files of one workspace
    usage                    which workspaces are used, and how much of the disk they take
    caretaker                stops workspaces that are idle, removes those that are not needed
    desktop                  screens on which programs of workspaces show their windows
    commands                 the commands that run in workspaces
    git                      the repositories in workspaces
    terminals                terminals of people in workspaces
    browsing                 the files of a workspace as people look at them
    context                  what a chat knows of its workspace
"""
