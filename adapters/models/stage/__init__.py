"""The rehearsal within the daemon, for as long as nobody has set up a provider."""

from adapters.models.stage.serving import Stage

__all__ = ["Stage"]
