/**
 * Takes a database back to an earlier state of its tables, in milliseconds: the result of a
 * point-in-time recovery, without the recovery. The drill does a real one.
 */
import type { Sql } from 'postgres'

/** Keeps every row of every table under a name, replacing what was kept under it. */
export async function keep(sql: Sql, name: string): Promise<void> {
  await sql.unsafe(`
    do $$ declare t text; begin
      create schema if not exists ${name};
      for t in select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') loop
        execute format('create table if not exists ${name}.%I as table public.%I with no data', t, t);
        execute format('delete from ${name}.%I', t);
        execute format('insert into ${name}.%I select * from public.%I', t, t);
      end loop;
    end $$`)
}

/** Restores the tables to the kept state. */
export async function takeBack(sql: Sql, name: string): Promise<void> {
  await sql.unsafe(`
    do $$ declare t text; columns text; begin
      set local session_replication_role = replica;
      for t in select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') loop
        -- The database computes the others.
        select string_agg(quote_ident(attname), ', ') into columns from pg_attribute
        where attrelid = format('public.%I', t)::regclass and attnum > 0 and not attisdropped and attgenerated = '';
        execute format('delete from public.%I', t);
        execute format('insert into public.%I (%s) overriding system value select %s from ${name}.%I', t, columns, columns, t);
      end loop;
    end $$`)
}
