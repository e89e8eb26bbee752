"""Stops the world of one process: none of its tasks takes a step, its timers go on.

What would have woken a task meanwhile wakes it when the process goes on, all at once, as after
SIGSTOP and SIGCONT. Tasks belong to the process in whose nurseries they were started.
"""

import trio


class Stopper(trio.abc.Instrument):
    """Knows which task belongs to which process."""

    def __init__(self):
        self._process_of = {}

    def adopt(self, process):
        """What the current task starts from now on belongs to `process`."""
        self._process_of[trio.lowlevel.current_task()] = process

    def task_spawned(self, task):
        parent = task.parent_nursery.parent_task if task.parent_nursery else None
        process = self._process_of.get(parent)
        if process is not None:
            self._process_of[task] = process
            task.coro = _Stoppable(task, process)

    def task_exited(self, task):
        self._process_of.pop(task, None)


class _Stoppable:
    """Stands for a task's coroutine: passes every step on, unless its process is stopped."""

    def __init__(self, task, process):
        self._coro = task.coro
        self._task = task
        self._process = process

    def __getattr__(self, name):
        return getattr(self._coro, name)

    def send(self, value):
        if not self._process.is_frozen:
            return self._coro.send(value)
        self._process.parked.append((self._task, value))
        return _wait_for_reschedule()


def _wait_for_reschedule():
    """What a task yields that waits for nothing but `reschedule`, whoever cancels it."""
    waiting = trio.lowlevel.wait_task_rescheduled(lambda _: trio.lowlevel.Abort.FAILED)
    message = waiting.send(None)
    waiting.close()
    return message
