"""The tools that come with the daemon. What each is called with stands beside what it does.

sources            all of them, in the order in which a model is told of them
workspace          read and write files of the workspace, run commands there
workspace_schemas  the arguments of these tools, and what a model is told of a command   (pure)
lifecycle          make, start and stop the workspace
computer           operate the desktop of the workspace
agents             spawn agents and work with them
agent_recorder     films of what agents do on their desktops, for their parents
agent_schemas      the arguments of these tools                                         (pure)
planning           ask the user, and hand a plan in
skills             read skills
advisor            ask another model for advice
"""
