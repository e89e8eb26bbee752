"""The rules of tools and workspaces: which calls run, and what a model is shown of their results.

For other rooms:
gating       which built-in tools a chat has, by its kind
approvals    which calls need a person's consent before they run
approval_rules  rules of consent, and what they say of a call
argument_rules  rules about commands, paths and other arguments of calls
call_checks  which calls of a step are refused, and why
output       results within their bounds: truncated, cut in the middle, with line numbers
hooks.port   the questions to a policy hook, and its answers
hooks.rules  what follows from them
live_output  the output of a command, as watchers are shown it while it runs
editing      edits of files: where they fit, and their diffs
commands     shell commands as models write them
plans        where the plan of a chat is kept, and what a plan has to be
ranking      which templates of workspaces to show first
desktop      the rules of desktops that models operate
workspaces   the ports to the workspace in which a chat works

Inside:
hooks        policy hooks
"""
