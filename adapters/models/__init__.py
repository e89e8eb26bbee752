"""Which models there are, how each is reached, and what it is told.

catalogue    what a process knows of providers, models and settings, and for how long
contents     all of it at one moment: database, environment, rehearsal                 (pure)
environment  what the environment offers: keys that are there are providers            (pure)
choosing     who may ask which model, and with what effort                             (pure)
configured   a provider and a model as somebody set them up                            (pure)
call_config  how a model is called, as administrators write it                         (pure)
settings     what may be set, by name                                                  (pure)
connecting   a configured model as a provider that can be asked
prompting    stored rows, files and tools as the prompt for it
compacting   when a chat is summarised, and by which model
sanitising   text for a model, made plain                                              (pure)
words        what chats are told beside what is said in them                           (pure)
stage        the rehearsal, where nobody has set up a provider
caching      what was read, kept for a while
"""
