-- 0034  What has expired is found by an index.
--
-- Why       Each kind is removed in batches, the oldest first. Without an index, each batch reads the whole table
--           (docs/decisions/0191).
-- Used by   the job sweep_expired, its metrics and `svc doctor`.
-- Locks     SHARE on each table while its index is built: changes wait, for a second in a million rows.
-- Old code  runs: the release before this one runs against it unharmed: only additions.
-- Undo      drop index step_up_ended, failed_attempt_over, invitation_used, second_factor_begun, blocked_slug_over;

create index step_up_ended on step_up (expires_at);
create index failed_attempt_over on failed_attempt (at);
create index invitation_used on invitation (expires_at) where used_at is not null;
create index second_factor_begun on second_factor (created_at) where confirmed_at is null;
create index blocked_slug_over on blocked_slug (until);
