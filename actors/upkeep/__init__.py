"""Titles, summaries and advice: what is asked of a model beside a turn; and housekeeping.

For other rooms:
    jobs             runs work that no turn waits for
    asking           asks a model beside the turn, until it answers or cannot
    title_jobs       gives a new chat a title that a model finds
    title_wording    the first title of a chat, and how a model is asked for one
    summary_jobs     writes labels and summaries for lists of chats
    age_rules        says what goes when it is old, and how fast                    (pure)
    housekeeping     archives, erases and forgets what is old, in batches

Inside:
    summary_wording  what labels and summaries are made of, and how a model is asked for them
"""
