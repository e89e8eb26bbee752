"""A load run, seen by its clients."""
