/**
 * The candidates of a search come from the GIN index, by a function that no row-level security keeps from it.
 *
 * 100,000 documents of 20 workspaces. What the function plans is asked of the planner as the role it runs as; that it is
 * what runs is read from the index's own counter. Spec: Work on boards, 2, N4; docs/decisions/0230.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

const workspaces = 20
const documentsEach = 5_000

let own: TestInstallation
const tenants = Array.from({ length: workspaces }, () => randomUUIDv7())
const [tenant = '', other = ''] = tenants
beforeAll(async () => {
  own = await testInstallation()
  // Each word begins with the number of its generation. `common` is in every document, `rare` in five of a workspace.
  for (const [at, id] of tenants.entries())
    await own.oracle`
      insert into search_document (tenant_id, generation, kind, id, container_id, changed_at, words)
      select ${id}, ${at + 1}, 'ITEM', uuidv7(), ${id}, now() - n * interval '1 minute',
             (format('''%1$s=common'':1A ''%1$s=word%2$s'':2A ''%1$s=word%3$s'':3C', ${at + 1}::int, n % 1000, n % 1777)
              || case when n % 1000 = 7 then format(' ''%s=rare'':4A', ${at + 1}::int) else '' end)::tsvector
      from generate_series(1, ${documentsEach}) n`
  await own.oracle`vacuum analyze search_document`
}, 120_000)
afterAll(() => own.close())

interface Plan {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly Plan[]
}
const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)]

const asRole = <T>(role: string, of: string, work: (run: (text: string) => Promise<T[]>) => Promise<T[]>) =>
  own.oracle.begin(async (sql) => {
    await sql.unsafe(`set local role ${role}; set local app.tenant_id = '${of}'`)
    return (await work(async (text) => (await sql.unsafe(text)) as unknown as T[])) as T[]
  }) as Promise<T[]>

/** The statement of the function, with the values in the places of its parameters. */
async function statementWith(...values: readonly string[]): Promise<string> {
  const [row] = await own.oracle<
    { source: string }[]
  >`select prosrc as source from pg_proc where proname = 'search_ids'`
  const [, text = ''] = /execute '([^']+)'/.exec(row!.source) ?? []
  return text.replaceAll(/\$(\d)/g, (_, n: string) => values[Number(n) - 1] ?? '')
}
const of = (id: string, generation: number, words: string) =>
  statementWith(`'${id}'::uuid`, String(generation), `'{ITEM}'::text[]`, 'null::uuid[]', `'${words}'::tsquery`, '10001')

async function planOf(role: string, statement: string): Promise<Plan[]> {
  const [row] = await asRole<{ 'QUERY PLAN': [{ Plan: Plan }] }>(role, tenant, (run) =>
    run(`explain (analyze, format json) ${statement}`),
  )
  return nodes(row!['QUERY PLAN'][0].Plan)
}
const indexes = (plan: readonly Plan[]) => plan.flatMap((node) => node['Index Name'] ?? [])

const found = (id: string, generation: number, words: string, as = id) =>
  asRole<{ id: string }>('svc_tenant', as, (run) =>
    run(`select id from search_ids('${id}', ${generation}, '{ITEM}', null, '${words}', 10001)`),
  )
async function scansOfWords(): Promise<number> {
  await own.oracle`select pg_stat_force_next_flush()`
  const [row] = await own.oracle<{ scans: string }[]>`
    select idx_scan as scans from pg_stat_user_indexes where indexrelname = 'search_document_words'`
  return Number(row!.scans)
}

describe('a rare word', () => {
  test('is found by the index of words, and only the documents that have it are read', async () => {
    const plan = await planOf('svc_search', await of(tenant, 1, "''1=rare''"))
    expect(indexes(plan)).toContain('search_document_words')
    const bitmap = plan.find((node) => node['Node Type'] === 'Bitmap Index Scan')
    expect(bitmap?.['Actual Rows']).toBe(5)
  })

  test('is found so through the function, in the role of a workspace', async () => {
    const before = await scansOfWords()
    expect(await found(tenant, 1, "''1=rare''")).toHaveLength(5)
    await expect.poll(scansOfWords).toBeGreaterThan(before)
  })

  test('would be looked for in every document of the workspace without the function', async () => {
    const plan = await planOf('svc_tenant', await of(tenant, 1, "''1=rare''"))
    expect(indexes(plan)).not.toContain('search_document_words')
  })
})

test('a word that every document has is read from the newest on, and no document of another workspace with it', async () => {
  const plan = await planOf('svc_search', await of(tenant, 1, "''1=common''"))
  expect(Math.max(...plan.map((node) => node['Actual Rows'] ?? 0))).toBeLessThanOrEqual(documentsEach)
})

describe('the function', () => {
  test('answers the workspace in force alone', async () => {
    await expect(found(other, 2, "''2=rare''", tenant)).rejects.toThrow('not the workspace in force')
    await expect(
      own.oracle.begin(async (sql) => {
        await sql.unsafe('set local role svc_tenant')
        return sql.unsafe(`select * from search_ids('${tenant}', 1, '{ITEM}', null, '''1=rare''', 1)`)
      }),
    ).rejects.toThrow('not the workspace in force')
    expect(await found(tenant, 2, "''2=rare''")).toEqual([])
  })

  test('runs as a role that logs in nowhere, bypasses nothing, and reads documents alone', async () => {
    const [role] = await own.oracle`
      select r.rolname, r.rolcanlogin, r.rolbypassrls, r.rolsuper, p.proconfig, p.prorows
      from pg_proc p join pg_roles r on r.oid = p.proowner where p.proname = 'search_ids'`
    expect(role).toMatchObject({
      rolname: 'svc_search',
      ...{ rolcanlogin: false, rolbypassrls: false, rolsuper: false },
      proconfig: ['search_path=pg_catalog'],
      prorows: 1000,
    })
    const rights = await own.oracle`
      select relname, privilege_type from pg_class c, aclexplode(c.relacl) a
      where a.grantee = 'svc_search'::regrole order by 1, 2`
    expect([...rights]).toEqual([{ relname: 'search_document', privilege_type: 'SELECT' }])
    const members = await own.oracle`
      select m.member::regrole::text as member from pg_auth_members m where m.roleid = 'svc_search'::regrole and
        pg_has_role(m.member, m.roleid, 'USAGE') and not (select rolsuper from pg_roles where oid = m.member)`
    expect([...members]).toEqual([])
    await expect(
      found(tenant, 1, "''1=rare''").then(() =>
        asRole('svc_installation', tenant, (run) => run('select * from search_document')),
      ),
    ).rejects.toThrow('permission denied')
  })
})
