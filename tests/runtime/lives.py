"""What the stories of children share: bodies that crash when told to, and a note of ends."""

import trio

from runtime.restart import Restart

ONCE = Restart(times=1, within_seconds=60, first_seconds=1, cap_seconds=9)


class Ends(list):
    """Notes who ended how, and when: `note` is a `when_ended`."""

    def note(self, name, end):
        self.append((name, end, trio.current_time()))


class Lives:
    """A body that counts its lives, crashes when it is told to, and else goes on for ever."""

    def __init__(self, *errors, crash_after_seconds=0):
        self.errors = list(errors)
        self.began_at = []
        self.crash_after_seconds = crash_after_seconds

    async def __call__(self):
        self.began_at.append(trio.current_time())
        if self.errors:
            await trio.sleep(self.crash_after_seconds)
            raise self.errors.pop(0)
        await trio.sleep_forever()
