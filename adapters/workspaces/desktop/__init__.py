"""The desktops of workspaces: a screen for programs, seen and operated over RFB.

programs    the programs that a desktop is made of, and how they are started          (pure)
rfb         the client's side of RFB                                                  (pure)
connection  a connection to a screen: pictures of it, pointer and keys
pictures    pictures of a screen, scaled and packed
recording   films of desktops, made while a parent waits
desktops    the desktops of this process: started, found, watched, ended
"""
