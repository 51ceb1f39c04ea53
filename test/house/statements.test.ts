/**
 * The statements of the source, held against what a distributed PostgreSQL and row-level
 * security ask of them (design of the database: two locks, never one).
 */
import { describe, expect, test } from 'vitest'
import { installationTables, workspaceTables } from '../../src/core/contract/tables.ts'
import { type SourceFile, sourceFiles } from './source.ts'

interface Statement {
  readonly path: string
  /** Values as `$`, blanks as one. */
  readonly text: string
}

const template = /\btx(?:\.last|\.part)?(?:<[^`]*?>)?`([^`]*)`/gs

/** A value is `$`; the columns of rows() are written out, because the statement has them. */
const written = (value: string) =>
  value.includes('.rows(') ? `(${[...value.matchAll(/'([a-z_]+)'/g)].map(([, name]) => name)}) values` : '$'

const statementsOf = ({ path, text }: SourceFile): Statement[] =>
  [...text.matchAll(template)].map(([, sql = '']) => ({
    path,
    text: sql
      .replace(/\$\{[^}]*\}+/g, written)
      .replace(/\s+/g, ' ')
      .trim(),
  }))

const statements = sourceFiles('src').flatMap(statementsOf)
/** Tables by name; what the statement itself names in its WITH is none. */
const touched = ({ text }: Statement) => {
  const own = new Set([...text.matchAll(/\b([a-z_]+) as (?:materialized )?\(/g)].map(([, name]) => name))
  const places = text.matchAll(/(?<!\bdo |\bfor |\bkey |distinct )\b(?:from|join|into|update|using)\s+([a-z_]+)/g)
  return [...places].map(([, table = '']) => table).filter((table) => !own.has(table))
}
const touchesWorkspaces = (statement: Statement) => touched(statement).some((table) => table in workspaceTables)

/** Statements that cannot name the workspace, and why. */
const before: readonly { readonly text: RegExp; readonly why: string }[] = [
  {
    text: /^select key_id from keyring_key k where exists \(select from sealed_value s where s\.key_id = k\.key_id\)$/,
    why: 'readiness asks whether the ring still opens all that is sealed',
  },
  { text: /^select count\(\*\)::int as count from account$/, why: 'the overview counts accounts of all workspaces' },
  {
    text: /^select key_id, kind, count\(\*\)::int as count from sealed_value group by key_id, kind order by key_id, kind$/,
    why: 'values are counted per key and kind, of all workspaces, and none is named',
  },
  {
    text: /^select count\(\*\) filter .* coalesce\(sum\(failed\), 0\)::int as failed from reseal$/,
    why: 'how far the resealing is, in all workspaces',
  },
  {
    text: /^delete from connected_identity where provider_id = \$$/,
    why: 'a provider of the installation goes from all workspaces, with its connections',
  },
  {
    text: /^delete from provider_switch where provider_id = \$$/,
    why: 'and is on in none of them any more',
  },
  {
    text: /^delete from step_up where target_id = \$$/,
    why: "a purge forgets the proofs that other workspaces' operators spent on it",
  },
  {
    text: /^select id as job_id, .* from job where \$$/,
    why: 'an operator names a job by its id alone; a workspace names itself, in the part that is put in',
  },
  {
    text: /^select \$ from backup b where \$ and b\.id = \$$/,
    why: 'an operator names a backup by its id alone; a workspace names itself, in the part that is put in',
  },
  { text: /^select \$ from backup b where \$ and b\.id < \$::uuid/, why: 'and lists those of all workspaces' },
  {
    text: /^select from restore r where \$ and r\.id = \$ for update$/,
    why: 'an operator names a restore by its id alone; a workspace names itself, in the part that is put in',
  },
  { text: /^select \$ from restore r where \$ and r\.id = \$$/, why: 'and reads it' },
  { text: /^select \$ from restore r where \$ and r\.id < \$::uuid/, why: 'and lists restores of all workspaces' },
  {
    text: /^update restore set state = 'CANCELLED', .* where state = 'PLANNED' and planned_at/,
    why: 'old plans end in all of them',
  },
  { text: /^select id from restore where state in/, why: 'what lies in staging has the id of a restore alone' },
  {
    text: /^update backup_schedule set paused_reason = 'TARGET_REMOVED' where target_id = \$ \$$/,
    why: "a target of the installation serves the schedules of all workspaces; a workspace's names itself, in the part that is put in",
  },
  { text: /^delete from backup where schedule_id = \$ and is_waiting \$$/, why: "the same, of a schedule's backups" },
  { text: /^update backup set is_orphaned = true, .* where schedule_id = \$ and not is_orphaned \$$/, why: 'the same' },
  {
    text: /^select count\(\*\) filter .* from backup b where b\.schedule_id = \$ and b\.due_at = \$$/,
    why: 'a run of the installation has backups in all workspaces',
  },
  {
    text: /^select count\(\*\)::int as count from backup where state in \('QUEUED', 'RUNNING'\) and not is_waiting/,
    why: 'so many of them are made at a time, of all workspaces',
  },
  {
    text: /^select from job where id = \$::uuid and kind = \$ and state = 'RUNNING'$/,
    why: "what is left of a job's try has the job's id alone",
  },
  {
    text: /^update job set state = 'FAILED', .* failure = 'worker\.lost'/,
    why: 'lost jobs are looked for in all workspaces',
  },
  {
    text: /^select kind, state, count\(\*\)::int as count from \(select kind, state from job where state in \('QUEUED', 'RUNNING'\)/,
    why: 'a metric counts the jobs of all workspaces that have not ended',
  },
  {
    text: /^select 1 from delivery where finished_at is null and event_id >= \$::uuid and event_id < \$::uuid limit 1$/,
    why: 'a month of events is dropped for all workspaces at once',
  },
  {
    text: /^select 1 from delivery where id >= \$::uuid and id < \$::uuid and \(finished_at is null or/,
    why: 'and so is a month of deliveries',
  },
]

const rules = [
  {
    name: 'a statement on a table of workspaces names tenant_id',
    why: 'the policy is one lock, the statement the other; and a distributed database asks one node instead of all',
    breaks: (statement: Statement) =>
      touchesWorkspaces(statement) &&
      !/\btenant_id\b/.test(statement.text) &&
      !before.some(({ text }) => text.test(statement.text)),
    offence: 'select id from label where id = $',
  },
  {
    name: 'a workspace is set by SET LOCAL, never by set_config()',
    why: 'only the former reaches the other nodes of a distributed database',
    breaks: ({ text }: Statement) => /set_config/.test(text),
    offence: "select set_config('app.tenant_id', $, true)",
  },
  {
    name: 'rows are inserted from values, not from unnest, JSON or a WITH',
    why: 'a distributed database cannot tell where such rows belong',
    breaks: (statement: Statement) =>
      touchesWorkspaces(statement) &&
      /^insert/.test(statement.text) &&
      /\bselect\b.*\bfrom\s+(unnest|jsonb?_|[a-z_]+\s*\()/.test(statement.text),
    offence: 'insert into label (tenant_id, id) select $, id from unnest($) id',
  },
  {
    name: 'written columns are listed',
    why: 'a new column must not change what an old statement means',
    breaks: ({ text }: Statement) => /^insert into [a-z_]+ (values|select)/.test(text),
    offence: 'insert into label values ($, $)',
  },
  {
    name: 'a statement touches tables that are on the lists',
    why: 'a table nobody listed is in no purge, no export and under no rule of the catalog',
    breaks: (statement: Statement) =>
      touched(statement).some(
        (table) => !(table in workspaceTables) && !(table in installationTables) && !knownSources.has(table),
      ),
    offence: 'select 1 from elsewhere',
  },
]

/** What stands behind `from` and is no table of ours. */
const knownSources = new Set([
  'pg_locks',
  'pg_database',
  'pg_stat_activity',
  'paid_until',
  'max',
  'pg_class',
  'pg_index',
  'pg_attribute',
  'pg_constraint',
  // Rows that were loaded, or what they were made of (areas/restores).
  'svc_staging',
  // The queue's schema, which pg-boss owns; mails that wait are read there.
  'pgboss',
  'unnest',
  'lateral',
  'jsonb_to_recordset',
  'jsonb_array_elements_text',
  // A part of the statements that gather the matches of a query (areas/items/query/gather.ts).
  'cut',
  // Parts of the statement of a search (areas/search/ranking.ts) and of the indexer's look.
  'candidate',
  'search_ids',
  'months_over',
  'hits',
  'seen',
  'page',
  'named',
  'moved',
  'waiting',
])

describe('statements', () => {
  test('are found at all', () => expect(statements.length).toBeGreaterThan(80))

  test.each(rules)('$name', ({ breaks, offence, why }) => {
    expect(breaks({ path: 'src/core/stray.ts', text: offence }), 'the rule does not catch its own example').toBe(true)
    expect(
      statements.filter(breaks).map(({ path, text }) => `${path}: ${text}`),
      why,
    ).toEqual([])
  })

  test.each(before)('$why', ({ text }) => {
    expect(
      statements.filter((statement) => text.test(statement.text)),
      'nothing needs this exception any more',
    ).toHaveLength(1)
  })
})
