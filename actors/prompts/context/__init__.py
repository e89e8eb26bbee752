"""What an agent is given beside its conversation: plans, advice, skills.

plans       plans that are handed in                                       (pure)
advising    who may ask for advice, how often, what an advisor reads       (pure)
consulting  an advisor is asked
skills      how they are called, found and told of                         (pure)
resources   what stands in a workspace for agents, bounded and told of     (pure)
ports       what is asked of the world for that
"""
