-- 0047  Jobs of more kinds than exports.
--
-- Why       People ask for work that takes longer than a call: they empty the trash. Which kinds there are, the contract
--           says (src/core/contract/jobs/operations.ts); who asked is in `params`, and reads the job.
-- Used by   src/core/areas/items/trash/emptying.ts, src/core/areas/jobs.
-- Locks     ACCESS EXCLUSIVE on job for a moment.
-- Old code  stops: the release before this one takes any job without a beat for an export, and resumes it as one.
-- Undo      delete the jobs of other kinds, and add the constraint of 0011 again.

alter table job drop constraint job_kind_check;
alter table job add constraint job_kind_check check (kind ~ '^[A-Z_]{3,40}$');
