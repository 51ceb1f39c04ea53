-- 0100  A bound above all attempts of before, for the partitions of 0102.
--
-- Why       The table of before becomes the first partition without a row being moved. PostgreSQL then asks for a proof
--           that all its rows are below the bound: a CHECK that is validated ahead, while the installation serves
--           (docs/decisions/0321).
-- Used by   0101 and 0102, which drops the CHECK.
-- Locks     ACCESS EXCLUSIVE on delivery_attempt for a moment. No row is read.
-- Old code  runs: the bound is a month or two ahead of every delivery that is made now.
-- Undo      alter table delivery_attempt drop constraint delivery_attempt_before; drop function first_id_at(timestamptz).

-- The smallest UUIDv7 of a moment: ids of deliveries are in the order of the time at which they were made.
create function first_id_at(moment timestamptz) returns uuid language sql immutable parallel safe
  return (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid;

do $$
begin
  execute format(
    'alter table delivery_attempt add constraint delivery_attempt_before check (delivery_id < %L) not valid',
    first_id_at((date_trunc('month', now() at time zone 'UTC') + interval '2 months') at time zone 'UTC'));
end $$;
