"""What an agent is given beside its conversation, and how it plans.

ports      what is asked of a workspace for that
plans      questions to the user, and plans that are handed in   (pure)
"""
