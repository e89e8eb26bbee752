"""Pieces of running attempts between processes of one database: one connection from whoever
watches to whoever runs, whatever it is that they watch.

`address` where a process is found by the others · `place` what that is here · `tickets` who is let
in: who has the secret key · `wire` bytes ↔ frames · `door` the listener's side · `dialling` the
other · `opening` all of it.
"""
