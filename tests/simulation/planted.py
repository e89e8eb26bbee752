"""Faults planted in a copy of the packages, one at a time, to see that the simulation catches them.

Each is one that somebody could make: what it is, the file in actors, the kind of life that sees it
if that is not the usual one, and the lines before (blank and -) and after (blank and +). The list
stands in README.md too, with how many of fifty seeds go red; `python -m tests.simulation.planting`
counts them again.
"""

from dataclasses import dataclass

PLANTED = r"""
# a fence does not look at the history
law/store/ports.py
-        and chat.history_version == fence.history_version

# a fence does not look at the status
law/store/ports.py
-        and chat.status is fence.status

# a fence looks at the worker only
law/store/ports.py
-        chat.holder == fence.holder
+        chat.holder is not None and chat.holder.worker == fence.holder.worker

# the next attempt is taken for counted
chat/turn/work.py
-    return replace(held, attempt_begun=False)
+    return replace(held)

# an attempt is never counted before it is made
chat/turn/commits.py
-    if held.attempt_begun:
+    if held.attempt_begun or held.history is not None:

# a view that is older than what is known replaces it
chat/turn/work.py
-    older, newest = sorted((known, other), key=lambda held: held.stored.chat.snapshot_version)
+    newest, older = sorted((known, other), key=lambda held: held.stored.chat.snapshot_version)

# a history is cached, but what is said in it is not added
chat/turn/commits.py
-    return HeldChat(applied.stored, history + said if said else history, attempt_begun=begun)
+    return HeldChat(applied.stored, history, attempt_begun=begun)

# the journal is written, but not read
chat/turn/tool_batch.py
         for entry in await retry_store(self._chat.id, "journal", begin):
-            self._recall(entry)
+            pass

# a call that may have run is run again, whatever its tool
chat/turn/tool_batch.py
-        elif tool is None or not tool.repeatable:
+        elif tool is None or tool.exclusive:

# of a batch that is cut short nothing is kept
chat/turn/tool_batch.py
-    try:
-        await batch.run()
-    finally:  # cut short, too: nothing is awaited here
-        _keep(batch.in_order(), chat, attempt, show)
+    await batch.run()
+    _keep(batch.in_order(), chat, attempt, show)

# an interruption does not ask the journal
chat/interruption.py
-    if not calls:
+    if calls or not calls:

# an interruption keeps nothing of what was said
chat/interruption.py
-        kept = _partial_bodies(attempt, chat, ended_at=preview.closed_at)

# our own silence guard is taken for the end of the answer
chat/turn/answering.py
-    if guard.requested is not None:  # our own doing, whatever came out of the connection then
+    if crash is not None and guard.requested is not None:

# work that was cancelled counts as failed
chat/actor.py
-            return WorkCutShort(cause)
+            return WorkFailed(RuntimeError(f"cancelled: {cause}"))

# who gives a chat back only goes
chat/actor.py
-                return await commit(held, [Abandon()], self._deps)
+                return LetGo()

# a chat actor does not hear that it is to drain
chat/actor.py
-                self._draining = True
+                self._draining = False

# a chat actor does not look again after news that came while it looked
chat/actor.py
-            self._look_again = True
+            pass

# who has lost a chat goes on
chat/decide.py
-    if chat.holder != me:
+    if chat.holder is None:

# of a summary models are not told
chat/turn/generation.py
-    rows = compaction.rows(said, model.config_id)
+    rows = compaction.rows(said, model.config_id)[1:]

# a summary is made of a summary
prompts/fullness.py
-    return bool(_since(bodies)) and made < SUMMARIES_PER_TURN_MAX
+    return made < SUMMARIES_PER_TURN_MAX

# a wish for a summary is not used up
chat/turn/generation.py
-    step = CommitStep(rows, consumes_compaction=is_summary)
+    step = CommitStep(rows)

# what was too long is asked again in the same attempt
chat/turn/generation.py
-    counted = await count_attempt(without_attempt(held), deps)
+    counted = await count_attempt(held, deps)

# nobody ends the wait for a client
chat/waits.py
-        await trio.sleep(remaining)
+        await trio.sleep_forever()

# nobody looks for work that no hint spoke of
supervisor/actor.py
-                self._tasks.start_soon(self._poll, self._limits.poll_seconds, api.look_for_work)

# hints are never compared with the store
supervisor/actor.py
-                self._tasks.start_soon(self._poll, self._limits.sync_seconds, api.compare)

# chats do not hear of news
supervisor/registry.py
-        own = moved.by_holder and moved.runner_id in (self.holder.runner, None)
+        own = True

# chats that are held by mistake are not given back
supervisor/actor.py
-            self._settle(moved.chat, holder, GiveBack(0))
-        self._strangers
+        self._strangers

# a lease that is lost stops nobody
supervisor/actor.py
-        self._registry.stop(LeaseExpired())

# a lease is counted on for longer than it holds
supervisor/heartbeat.py
-        self._held_seconds = lease_seconds * (1 - MARGIN)
+        self._held_seconds = lease_seconds * (1 + MARGIN)

# a lease is counted from the answer to a beat, not from when it was sent
supervisor/heartbeat.py
-            sent_at = now()
-            beats.append((sent_at, await self._leases.beat(worker)))
+            answer = await self._leases.beat(worker)
+            beats.append((now(), answer))

# a beat that came too late is a beat
supervisor/heartbeat.py
-                if beat.expired:
+                if beat.expired is None:

# a chat that came with a lost lease is run
supervisor/actor.py
-        if holder is None or holder.worker != self._worker:
+        if holder is None:

# a search that failed is never followed by another
supervisor/decide.py
-        return SearchState.IDLE, False
+        return search, False

# the place of a chat that has ended stays taken
supervisor/slots.py
-        self._roots -= self._taken.pop(runner, False)
+        self._taken.pop(runner, False)

# places that were promised and forgotten are never free again
supervisor/slots.py
-            if claim.until > now:
+            if claim.until > 0:

# chats are given back whoever holds them by then
supervisor/settling.py
-    if not isinstance(stored, StoredChat) or stored.chat.holder != holder:
+    if not isinstance(stored, StoredChat) or stored.chat.holder is None:

# who drains takes chats all the same
supervisor/actor.py
-        if self._draining or self._registry.is_full:
+        if self._registry.is_full:

# the turn goes on while a person is asked
law/closing.py
-    return bool(stored.chat.open_approvals or unanswered_dynamic_calls(stored))
+    return bool(unanswered_dynamic_calls(stored))

# what should be asked runs
tools/approvals.py
-            if policy is Policy.ASK:
-                if by_person or self._is_granted(tool, subject, ruled, granted):
+            if policy is Policy.ASK:
+                if True:

# what nobody decides is never denied
chat/waits.py
-    times = [ask.until for ask in stored.chat.open_approvals if ask.until is not None]
+    times = []

# what a listener raises comes out in the turn
streams/previews.py in listeners
-            try:
-                listener.hear(encoded, alone)
-            except Exception as error:  # noqa: BLE001  it ends the listener, and nothing else
-                self.listener = None
-                self._end_listener(listener.fail, error)
+            listener.hear(encoded, alone)

# a listener that has failed is called again
streams/previews.py in listeners
-                self.listener = None
-                self._end_listener(listener.fail, error)
+                self._end_listener(listener.fail, error)

# what a follower raises comes out in the turn
streams/previews.py in listeners
-            try:
-                follower.note()
-            except Exception as error:  # noqa: BLE001  it ends the follower, and nothing else
-                self.unfollow(follower)
-                self._end_listener(follower.fail, error)
+            follower.note()

# a follower that has failed is called again
streams/previews.py in listeners
-                self.unfollow(follower)

# what is raised as an attempt begins comes out in the turn
streams/previews.py in listeners
-            try:
-                began(preview)
-            except Exception as error:  # noqa: BLE001  the follower is told, and nothing else ends
-                self._totals.failed_count += 1
-                end_listener(fail, error)
+            began(preview)

# a listener that raises as it is told of its failure is heard by the turn
streams/previews.py in listeners
-    try:
-        fail(error)
-    except Exception as worse:  # noqa: BLE001  it must not reach the chat either
-        emit("listener.broken", "error", error=worse, ended_by=repr(error))
+    fail(error)

# a write is waited for as long as its disk hangs
runtime/threads.py in disks
-        with trio.move_on_after(seconds):
-            await self._place.released.wait()
+        await self._place.released.wait()

# all workspaces share the threads of one
runtime/threads.py in disks
-    place = await pool.acquire(key, keeps=keeps)
+    place = await pool.acquire(None, keeps=keeps)

# a parent that waits for its agents holds up its process
chat/decide.py in deploys
-        return self.kind in _WAITS or (self.kind is WorkKind.GENERATE and not self.at_stake)
+        return self.kind in _WAITS

# a chat that is handed over counts as one whose process died
law/transitions.py in deploys
-    if request.after_death and chat.holder is not None and is_at_work:
+    if is_at_work:

# chats that failed together ask again together
chat/turn/retries.py in outage
-    return min(shortest + spread, PAUSE_SECONDS_MAX)
+    return min(shortest, PAUSE_SECONDS_MAX)

# no house is kept after the first look
upkeep/housekeeping.py in housekeeping
-            with trio.move_on_after(self._look_seconds):
-                await self._asked.wait()
+            await self._asked.wait()

# a housekeeper whose store is away ends
upkeep/housekeeping.py in housekeeping
         except StoreUnavailable as fault:
             emit("housekeeping.delayed", "warning", error=fault)
-            return
+            raise

# an attempt that was not answered well is taken for a delivery
adapters/chats/notices/outbox/deliveries.py in notices
-            state = DeliveryState.FAILED if seconds is None else DeliveryState.WAITING
+            state = DeliveryState.DELIVERED

# a receiver that has failed once is given up
adapters/chats/notices/outbox/deliveries.py in notices
-    if attempts > len(waits):
+    if attempts:

# a receiver stays busy when its delivery has ended
adapters/chats/notices/outbox/sender.py in notices
-            self._busy[delivery.target_id] -= 1
+            pass

# a fault of the store ends the sender
adapters/chats/notices/outbox/sender.py in notices
             emit("outbox.unread", "warning", error=error)
-            return RETRY_SECONDS
+            raise

# what calls in flight may cost is not looked at
chat/turn/spending.py in budgets
-        return self.hard_micros is not None and self.used_micros >= self.hard_micros
+        return self.hard_micros is not None and self.spent_micros >= self.hard_micros

# what was set aside for a call that was cut short stays set aside
chat/turn/spending.py in budgets
-        if not is_over:
-            budgets.give_back(reservation, is_spent=is_spent())
+        pass

# a call is made although its limit is reached
chat/turn/generation.py in budgets
-    if isinstance(reserved, OverLimit):
-        return await _over_limit(held, reserved, model, tools, deps)
+    if isinstance(reserved, OverLimit):
+        reserved = None

# who stops keeps its lease
supervisor/actor.py
-        worker = self._worker
-        if worker is not None:
+        worker = None
+        if worker is not None:
"""


@dataclass(frozen=True, slots=True)
class Fault:
    what: str
    where: str  # the file, and maybe the life
    old: str
    new: str

    @property
    def path(self):
        file, _, _ = self.where.partition(" in ")
        return file if file.startswith(("runtime/", "adapters/")) else f"actors/{file}"

    @property
    def life(self):
        return self.where.partition(" in ")[2] or "users"


def _read(block):
    what, where, *lines = block.strip("\n").splitlines()
    old = "\n".join(line[1:] for line in lines if line[0] in " -")
    new = "\n".join(line[1:] for line in lines if line[0] in " +")
    return Fault(what.removeprefix("# "), where, old, new)


FAULTS = tuple(map(_read, PLANTED.strip("\n").split("\n\n")))
