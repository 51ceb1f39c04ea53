-- 0172  Elevated sessions.
--
-- Why       One proof serves some minutes of one session for acts on other accounts, instead of a proof for each: a code serves once
--           (docs/decisions/0422).
-- Used by   src/core/areas/auth/sign-in/elevation.ts; the gate reads it with the session.
-- Locks     ACCESS EXCLUSIVE on session for a moment: columns without a default rewrite nothing.
-- Old code  runs: it asks for a proof each time.
-- Undo      drop the columns.

alter table session
  add column elevated_at timestamptz,
  add column elevated_until timestamptz,
  add constraint session_elevated check ((elevated_at is null) = (elevated_until is null));
