-- The logins and the database of svc, in a new server. docs/deploying.md, "The database", says what they may do.
\getenv owner_password SVC_OWNER_PASSWORD
\getenv daemon_password SVC_DAEMON_PASSWORD
create role svc_owner login createrole password :'owner_password';
create role svc_daemon login noinherit password :'daemon_password';
create database svc owner svc_owner;
revoke all on database svc from public;
grant connect on database svc to svc_daemon;
\connect svc
-- Large objects and messages in the log: rights that every login has otherwise.
do $$
declare one regprocedure;
begin
  for one in
    select oid from pg_proc
    where pronamespace = 'pg_catalog'::regnamespace
      and (proname like 'lo\_%' or proname in ('loread', 'lowrite', 'pg_logical_emit_message'))
  loop
    execute format('revoke execute on function %s from public', one);
  end loop;
end $$;
