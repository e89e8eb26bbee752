"""The way from what is stored to what a provider is asked: choose, convert, pair, repair, compact.

For other rooms:
projection      a stored history as the messages of a prompt, by every rule in order
selecting       which rows of a history a model sees
converting      a row, its files and tool results as messages of a prompt
growing         a converted history that grows: each row is converted once
provider_tools  the strict rules of Anthropic's own tools
fullness        how full a model's window is, and whether a summary has to be made
compaction      how a summary is asked for, and the rows that it is stored as
advice          what an advisor is asked, and how often
skills          the index of skills
resources       what a workspace holds for agents: instructions, skills, settings of servers
ports           what planning, skills and instructions ask of the world

Inside:
pairing         every call gets its answer, and every answer its call
"""
