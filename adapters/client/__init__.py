"""A client of the API in Python, for programs that block and for programs on trio.

following   what is new on a stream that may break at any moment      (pure)
transcript  what a chat looks like to somebody who follows it         (pure)
asks        what can be asked, as values                              (pure)
outputs     what comes of a call, as the daemon is told of it         (pure)
frames      a WebSocket as its bytes                                  (pure)
faults      what may come instead of an answer
tools       functions of a program as tools that a model may call
answering   their calls, run and answered
calling     the client for programs that block: `Client`
awaiting    the client for trio and anyio: `AsyncClient`
"""
