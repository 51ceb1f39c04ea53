-- 0024  Deliveries are found by their key, or by their webhook; by their id alone nobody has an index for them.
--
-- Why       Where statistics were missing or old, turns looked deliveries up by (tenant_id, id) in the index that has
--           the webhook between the two: a probe for each webhook of the workspace, 8 ms instead of 0.3 among 650
--           (decision 0117). As a partial index it is for statements that name a webhook alone. And each delivery was
--           written into a fourth index twice, for a look-up that only operators make, one at a time.
-- Used by   src/core/areas/webhooks/**, src/core/areas/webhooks/operator-view/recorded.ts.
-- Locks     ACCESS EXCLUSIVE on delivery until the commit, a second or two for a million rows: events, deliveries and whoever
--           reads them wait as long, and are refused as unavailable after 2 s.
-- Old code  runs: the release before this one runs against it unharmed; an operator's look-up of one delivery is slow in it.
-- Undo      drop index delivery_by_webhook; create index delivery_by_webhook on delivery (tenant_id, webhook_id, id);
--           create index delivery_by_id on delivery (id).

drop index delivery_by_id, delivery_by_webhook;
-- No row is left out: the condition is for the planner. PostgreSQL 15 to 18 take a statement that names a webhook to imply
-- it, and none else; test/webhooks/turns.test.ts is the guard for later ones.
create index delivery_by_webhook on delivery (tenant_id, webhook_id, id) where webhook_id is not null;
