-- 0173  Sessions that people can tell apart, and the refresh whose answer was lost.
--
-- Why       A list of sessions says from what device and in what way somebody signed in; of the device its family alone is kept. The
--           refresh token before the newest serves some moments more: `rotated_at` is when the newest took its place, and
--           `further_pairs` how often it served since (docs/decisions/0424).
-- Used by   src/core/areas/auth/sign-in/session.ts, refresh.ts.
-- Locks     ACCESS EXCLUSIVE on session for a moment: columns without a volatile default rewrite nothing.
-- Old code  runs: a session that it refreshed has no grace.
-- Undo      drop the columns.

alter table session
  add column device_family text check (device_family in ('WINDOWS', 'MAC', 'LINUX', 'CHROMEOS', 'IPHONE', 'IPAD', 'ANDROID', 'COMMAND_LINE', 'OTHER')),
  add column way text check (way in ('PASSWORD', 'PROVIDER', 'INVITATION', 'SET_UP')),
  add column provider_id uuid, -- no foreign key: the installation's are rows of no workspace
  add column rotated_at timestamptz,
  add column further_pairs smallint not null default 0;
