"""The world: the only place with drivers, sockets, files and wire types."""
