"""All rules by which things go when they are old. A new kind of thing is one line more.

What belongs to a chat goes with it as well, so a rule is for what should go earlier, or for what
belongs to no chat.
"""

from actors.upkeep.age_rules import DAY_SECONDS, AgeRule
from adapters.chats.request_repeats import RECEIPT_RULE
from adapters.models import settings
from adapters.models.debug_runs.store import DEBUG_RUN_RULE
from adapters.people.store.tokens import LINK_RULE, TOKEN_RULE
from adapters.postgres.journal import JOURNAL_RULE
from adapters.postgres.queries import SQL

ERASURES_KEPT_SECONDS = 3 * 365 * DAY_SECONDS  # of receipts, which say who asked and how much went

ORPHAN_RULE = AgeRule(
    name="files",
    help="files that no chat has",
    delete=SQL["delete_orphan_files"],
    count=SQL["count_orphan_files"],
    setting=settings.RETENTION_DAYS,
    default_days=settings.DEFAULTS[settings.RETENTION_DAYS],
)
ERASURE_RULE = AgeRule(
    name="erasures",
    help="receipts of what was erased",
    delete=SQL["delete_old_erasures"],
    count=SQL["count_old_erasures"],
    seconds=ERASURES_KEPT_SECONDS,
)

AGE_RULES: tuple[AgeRule, ...] = (
    ORPHAN_RULE,
    JOURNAL_RULE,
    RECEIPT_RULE,
    TOKEN_RULE,
    LINK_RULE,
    ERASURE_RULE,
    DEBUG_RUN_RULE,
)
