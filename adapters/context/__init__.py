"""What an agent is given beside its conversation.

standing  the words that hold for a turn, in their order
skills    which skills a chat has; kept in memory
"""
