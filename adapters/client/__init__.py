"""A client of the API in Python, for programs that block and for programs on trio.

following   what is new on a stream that may break at any moment      (pure)
transcript  what a chat looks like to somebody who follows it         (pure)
asks        what can be asked, as values                              (pure)
faults      what may come instead of an answer
calling     the client for programs that block: `Client`
awaiting    the client for trio and anyio: `AsyncClient`
"""
