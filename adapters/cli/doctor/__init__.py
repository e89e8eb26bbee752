"""`promptcorner doctor`: checks of everything that a daemon needs.

command    runs the checks and prints what they find
findings   defines what a check answers with           (pure)
machine    checks this machine
network    checks the ways to clients, other processes and providers
forges     checks users' tokens at forges
providers  checks the providers in the database
database   checks the database
plugins    checks the plugins, here and in a daemon that runs
"""
