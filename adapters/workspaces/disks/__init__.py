"""What touches the disks of workspaces, which may hang.

disk      of one workspace, reached through threads of its own
programs  of the system that look at disks: du, rm, git
"""
