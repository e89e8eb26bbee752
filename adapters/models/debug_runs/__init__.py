"""Records of model calls, for users who have switched them on: what was asked and what came back.

redaction   what is secret in headers, bodies and addresses, and what takes its place      (pure)
documents   prompts, answers and exchanges as they are shown in a record                   (pure)
attempts    the HTTP client that notes the exchanges of a recorded call
recorder    decides whose calls are recorded, and notes runs and steps as they happen
writer      the actor that writes them, off the path of every turn
store       the stored runs and steps
wiring      the recording, put together
routes      the endpoints that show them
"""
