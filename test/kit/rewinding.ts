/**
 * A database that is taken back to an earlier state of its tables, in milliseconds: what a
 * point-in-time recovery leaves, without the recovery. The drill does it for real.
 */
import type { Sql } from 'postgres'

/** Keeps every row of every table under a name. */
export async function keep(sql: Sql, name: string): Promise<void> {
  await sql.unsafe(`
    do $$ declare t text; begin
      drop schema if exists ${name} cascade; create schema ${name};
      for t in select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' loop
        execute format('create table ${name}.%I as table public.%I', t, t);
      end loop;
    end $$`)
}

/** Makes the tables what they were. */
export async function takeBack(sql: Sql, name: string): Promise<void> {
  await sql.unsafe(`
    do $$ declare t text; begin
      set local session_replication_role = replica;
      for t in select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' loop
        execute format('delete from public.%I', t);
        execute format('insert into public.%I overriding system value select * from ${name}.%I', t, t);
      end loop;
    end $$`)
}
