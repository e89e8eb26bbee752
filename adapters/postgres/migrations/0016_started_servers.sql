-- A start of a workspace's server that was allowed once holds for its chat until it is revoked, so
-- decisions other than "always" can be revoked, too.

ALTER TABLE approval_decisions
    DROP CONSTRAINT approval_decisions_check,
    ADD CONSTRAINT approval_decisions_revoked CHECK (revoked_at IS NULL OR verdict <> 'deny');
