-- The logins and the database of svc, in a new server. docs/deploying.md, "The database", says what they may do.
\getenv owner_password SVC_OWNER_PASSWORD
\getenv daemon_password SVC_DAEMON_PASSWORD
create role svc_owner login createrole password :'owner_password';
create role svc_daemon login noinherit password :'daemon_password';
create database svc owner svc_owner;
revoke all on database svc from public;
grant connect on database svc to svc_daemon;
\connect svc
revoke execute on function lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea), lo_put(oid, bigint, bytea),
  lo_open(oid, integer), lowrite(integer, bytea), lo_unlink(oid) from public;
