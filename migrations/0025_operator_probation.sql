-- 0025  Whoever enters the operator register without a step-up is on probation until a moment.
--
-- Why       A stolen operator's token alone could enter an account of its thief's, which then signed in, stepped up and was
--           an operator in full (decision 0130). Null is a full operator; every row from before this migration is one.
-- Used by   src/core/areas/operators/register.ts, src/daemon/gate.ts.
-- Locks     ACCESS EXCLUSIVE on operator for a moment: the column is added without touching a row.
-- Old code  runs: the release before this one runs against it: it enters full operators, and asks nobody about a probation.
-- Undo      alter table operator drop column probation_until;

alter table operator add column probation_until timestamptz;
-- A second entry, with a step-up, ends a probation.
grant update (probation_until) on operator to svc_installation;
