-- 0096  An event keeps the trace of the request that it comes from.
--
-- Why       With tracing on, the delivery of an event continues the trace of its request, whichever daemon delivers it
--           (docs/decisions/0311). `traceparent` and the id of the request; null while tracing is off.
-- Used by   src/core/kernel/outbox/fan-out.ts, src/core/areas/webhooks/dispatch/claim.ts.
-- Locks     ACCESS EXCLUSIVE on outbox_event for a moment: no row is written anew.
-- Old code  runs: the release before this one writes and reads no such column: only additions.
-- Undo      alter table outbox_event drop column origin.

alter table outbox_event add column origin text;
