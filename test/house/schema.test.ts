/** The schema page is what a migrated database has, and shows whatever a migration may change. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { schemaPage, schemaPath } from '../../scripts/schema-page.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { isOutside } from '../kit/outside-cluster.ts'
import { root } from './source.ts'

let own: TestDatabase
let page: string
let before: ReadonlySet<string>
beforeAll(async () => {
  own = await testDatabase()
  page = await pageAfter('')
  before = new Set(lines(page))
})
afterAll(() => own.drop())

/** The page as it would be after the statements; they are undone. */
async function pageAfter(statements: string): Promise<string> {
  let after: string | undefined
  const undo = new Error('undo')
  await own.sql
    .begin(async (sql) => {
      await sql.unsafe(statements)
      after = await schemaPage(sql)
      throw undo
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error
    })
  return after!
}

const lines = (page: string) => page.split('\n')

// The page shows the catalog of the embedded PostgreSQL; an older one has other columns.
test.skipIf(isOutside)('the page is fresh', () => {
  expect(readFileSync(join(root, schemaPath), 'utf8'), 'run `npm run docs`').toBe(page)
  expect(lines(page).length).toBeGreaterThan(500)
})

describe.skipIf(isOutside)('the page shows', () => {
  test.each([
    [
      'a new column',
      'alter table label add stray text not null default $$x$$',
      "stray text DEFAULT 'x'::text NOT NULL",
    ],
    ['a default', 'alter table label alter color_token set default $$red$$', "DEFAULT 'red'::text"],
    [
      'a generated column',
      'alter table label add stray int generated always as (1) stored',
      'GENERATED ALWAYS AS (1) STORED',
    ],
    [
      'a constraint',
      'alter table label add constraint stray check (version > 0)',
      'CONSTRAINT stray CHECK (version > 0)',
    ],
    ['an index', 'create index stray on label (tenant_id) where version > 1', 'CREATE INDEX stray ON label'],
    ['a setting of a table', 'alter table label set (fillfactor = 70)', ') WITH (fillfactor=70);'],
    [
      'a trigger',
      'create trigger stray before update on label for each row execute function suppress_redundant_updates_trigger()',
      'CREATE TRIGGER stray BEFORE UPDATE ON label',
    ],
    [
      'a policy',
      'create policy stray on label as restrictive for select to svc_tenant using (true)',
      'CREATE POLICY stray ON label AS RESTRICTIVE FOR SELECT TO svc_tenant USING (true);',
    ],
    ['an unlogged table', 'create unlogged table stray (n int)', 'CREATE UNLOGGED TABLE stray ('],
    ['a right', 'grant select on label to svc_queue', 'GRANT SELECT ON label TO svc_queue;'],
    ['a right on a column', 'grant update (name) on label to svc_queue', 'GRANT UPDATE (name) ON label TO svc_queue;'],
    [
      'a right on a function',
      'grant execute on function current_tenant() to svc_queue',
      'GRANT EXECUTE ON FUNCTION current_tenant() TO PUBLIC, svc_installation, svc_queue, svc_tenant;',
    ],
    ['a role', 'create role stray nologin; grant usage on schema public to stray', 'CREATE ROLE stray NOLOGIN;'],
    ['a membership', 'grant svc_purge to svc_queue', 'GRANT svc_purge TO svc_queue WITH INHERIT TRUE, SET TRUE;'],
    ['the body of a function', 'create function stray() returns int language sql return 41 + 1', 'RETURN (41 + 1)'],
    ['a comment', 'comment on column label.name is $$stray$$', "COMMENT ON COLUMN public.label.name IS 'stray';"],
  ])('%s', async (_, change, shown) => {
    const after = await pageAfter(change)
    const fresh = lines(after).filter((line) => !before.has(line))
    expect(fresh).toEqual(expect.arrayContaining([expect.stringContaining(shown)]))
  })

  test.each([
    [
      'row-level security that is off',
      'alter table label no force row level security',
      'ALTER TABLE label FORCE ROW LEVEL SECURITY;',
    ],
    ['a dropped policy', 'drop policy one_workspace on label', 'CREATE POLICY one_workspace ON label '],
    ['a revoked right', 'revoke all on label from svc_tenant', ' ON label TO svc_tenant;'],
  ])('%s', async (_, change, gone) => {
    const after = new Set(lines(await pageAfter(change)))
    const missing = [...before].filter((line) => !after.has(line))
    expect(missing).toEqual([expect.stringContaining(gone)])
  })
})

describe.skipIf(isOutside)('the page refuses', () => {
  test.each([
    ['a view', 'create view stray as select 1 as one'],
    ['an enumeration', 'create type stray as enum ($$A$$)'],
    ['a sequence of nobody', 'create sequence stray'],
    ['another schema', 'create schema stray'],
    [
      'a partition',
      'create table stray (n int) partition by list (n); create table stray_1 partition of stray for values in (1)',
    ],
  ])('%s, which it could not write', async (_, change) => {
    await expect(pageAfter(change)).rejects.toThrow(/cannot write: .*stray/)
  })
})
