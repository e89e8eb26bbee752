"""Pieces of attempts that run in other processes: followed there, mirrored here.

`frames` what two processes tell each other · `serving` what one peer follows here: cursors into
previews · `mirror` one attempt of another process, as far as it has come · `link` the actor that
follows at one peer, over one connection, as often as it breaks · `relays` all links · `ports` what
links ask of the world.
"""
