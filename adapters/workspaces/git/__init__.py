"""The repositories in workspaces, as git and forges know them.

diffs    how many lines of how many files a unified diff changes  (pure)
remotes  addresses of git remotes, and names of branches          (pure)
"""
