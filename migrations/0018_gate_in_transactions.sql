-- 0018  The gate, read by the transactions that it may refuse.
--
-- Why       A call that was let in before the gate closed must not commit behind it, nor one that was let in
--           before a recovery ended behind that: so every change looks again, in its own transaction, behind a
--           lock that whoever closes the gate takes alone (decision 0044). A workspace's transaction has its
--           own role, which knows nothing of the installation so far. These two columns name nobody.
-- Used by   src/core/areas/recovery/gate.ts, src/core/kernel/transaction/installation.ts.
-- Locks     None worth naming.
-- Old code  runs: the release before this one runs against it unharmed.
-- Undo      revoke select (gated_at, epoch) on installation from svc_tenant;

grant select (gated_at, epoch) on installation to svc_tenant;
