"""The rules of desktops that models operate. Pure.

geometry  the sizes that models are told, and where their pixels lie on the screen
keys      the names of keys as models write them, and the codes by which a screen knows them
steps     the steps in which a screen is operated, one thing at a time
actions   one action of Anthropic's tool as such steps
batches   a list of actions of OpenAI's tool as such steps
"""
