/** Every statement of the source is one that the schema takes, and answers the row that it names. docs/decisions/0161. */
import { join } from 'node:path'
import { API } from 'typescript/unstable/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { isOutside } from '../kit/outside-cluster.ts'
import { contradictions, describedColumns, readSchemaColumns, type SchemaColumns } from './described-statements.ts'
import { root } from './source.ts'
import { type WrittenStatement, writtenStatements } from './written-statements.ts'
import { offences } from './wrong-statements.ts'

const offencesPath = 'test/house/wrong-statements.ts'

/**
 * What is said of a statement and is so, with the reason: of the function that it stands in, because files move.
 * The lists may only shrink.
 */
interface Exception {
  readonly of: RegExp
  readonly says: RegExp
  readonly why: string
}

/** Statements that are put together at run time. */
const unread: readonly Exception[] = [
  {
    of: /^(?:read|countMatches|allMatches|sortedPage|groupsOf|exactSource|rank)$/,
    says: /: new Part\(strings, values, false\)$/,
    why: 'a query is compiled from its filter; test/items/filter and test/items/query.test.ts run it',
  },
  {
    of: /^rank$/,
    says: /: parts\.reduce/,
    why: 'the kinds of results that are asked for are put together; test/search runs them',
  },
  {
    of: /^(?:writeDocuments|spread|build)$/,
    says: /: (?:kindsOfDocuments\[kind\]|naming|follow|named)/,
    why: 'each kind of results brings its own statements; test/search runs them',
  },
  {
    of: /^(?:findHolder|readAsked|findStandings|findByAddress)$/,
    says: /: tenantId$/,
    why: 'accountWithAddress() takes the workspace as a value or as a column',
  },
  {
    of: /^countMany$/,
    says: /: doomed$/,
    why: 'each kind of a rule brings its own rows (retention-rules/doomed.ts); test/retention counts them',
  },
  { of: /^findIds$/, says: /: others$/, why: 'a look-up for each kind of id that the filter names' },
  { of: /^enqueue$/, says: /: text$/, why: 'pg-boss brings its own statements' },
  { of: /^removeBatch$/, says: /: (?:table\.name|place)$/, why: 'a purge removes from each table of tables.ts' },
  { of: /^removeBatch$/, says: /: statementOf\(kind\)$/, why: 'a sweep removes what each kind declares' },
  { of: /^(?:read|inspect)$/, says: /: backlogsOf\(sweeps\)$/, why: 'and counts it' },
  {
    of: /^removeBelongings$/,
    says: /: statement$/,
    why: 'what belongs to an item, its foreign keys say; test/items/trash.test.ts runs it',
  },
  {
    of: /^(?:computeDifference|countDifference|hasHolds|noteHeld|clean|cleanWhole|asNewcomer|asMade|leaveUnfinished|leaveSealed|count|sum)$/,
    says: /: (?:new Part\(\[staged|staged|differenceText)/,
    why: 'rows of an archive lie in tables of their own; test/restores runs them',
  },
  {
    of: /^ask$/,
    says: /: text$/,
    why: 'and so do the rules of erasures there; test/restores/erased.test.ts runs them',
  },
  {
    of: /^(?:countStaged|would|rangesOf|keepAsWere|putAside|bringBack|afterWriting|removeRows|removeKeys|putBack|makeRoom|makeShells)$/,
    says: /: (?:staged|what|listed|quoted|updateText|insertText|signatureOf|removalText|roomText|named\[)/,
    why: 'a rewind writes each table of people’s content, with the columns that the database has',
  },
  {
    of: /^(?:readComing|fill|compareKept|makeTenant|countFilled)$/,
    says: /: (?:staged|keptText|table\.table)/,
    why: 'and a restore fills each table of a workspace',
  },
  { of: /^hasRows$/, says: /: checks\.join/, why: 'asks each table of tables.ts' },
  { of: /^countRows$/, says: /: counts\.join/, why: 'counts each table of tables.ts' },
  { of: /^estimateRows$/, says: /: quoted\(table\)$/, why: 'an export estimates each entity' },
  {
    of: /^copyRows$/,
    says: /: columns\.map/,
    why: 'an export copies each entity, with the columns that the database has',
  },
  {
    of: /^writeMediaList$/,
    says: /: quotedId\(tenantId\)$/,
    why: 'a copy takes no values; test/backup/media.test.ts runs it',
  },
  { of: /^readSizes$/, says: /: each\.join/, why: 'weighs each table of tables.ts' },
  {
    of: /^(beginErasure|ask|applyRule|removeFiles|linesOf|lookFor|countRows)$/,
    says: /^cannot be followed: (place\.table|table\(|new Part|heldIn|\(await heldNow)/,
    why: 'one rule for each table of a person; test/privacy/erasure.test.ts, packages.test.ts run all of them',
  },
  { of: /^readGrowth$/, says: /: each\.join/, why: 'counts each table of tables.ts that has a moment' },
]

const allowed: readonly Exception[] = [
  {
    of: /^ofSeen$/,
    says: /missing FROM-clause entry for table "x"/,
    why: 'the order by label comes with the filter by label: two functions decide it by different words',
  },
  { of: /^(?:ofSeen|listGroupMembers)$/, says: / may be null$/, why: 'a row of nulls says that the page is empty' },
  { of: /^findToken$/, says: /^session_id may be null$/, why: 'joined with its session' },
  { of: /^noteEnd$/, says: /^withdraw_at may be null$/, why: 'compared with now()' },
  { of: /^lookAt$/, says: /^purge_after may be null$/, why: 'PENDING_DELETION has one: tenant_purge_after' },
  { of: /^lockPurge$/, says: /^(deletion_requested_at|purge_after) may be null$/, why: 'a purge began, so both are' },
  { of: /^markLeaving$/, says: /^purge_after may be null$/, why: 'the statement sets it' },
  { of: /^writeStartPassword$/, says: /^until may be null$/, why: 'the statement sets it' },
  { of: /^listServiceAccounts$/, says: /^name may be null$/, why: 'a service account is made with a name' },
  { of: /^(listTokens|writeToken)$/, says: /^name may be null$/, why: 'a token that people make has a name' },
  {
    of: /^readFactor$/,
    says: /^enrolled_at may be null$/,
    why: 'confirmed_at is not null there; the column has another name',
  },
  {
    of: /^(verifyAsScheduled|applyKeepRules|start)$/,
    says: /^schedule_id may be null$/,
    why: 'what has a due moment, or waits for a turn or for rules, is of a schedule',
  },
  { of: /^takeRecords$/, says: /^account_id may be null$/, why: "'ACCOUNT' has one: legal_hold_scope" },
  { of: /^readActs$/, says: /^act may be 'SEEN'$/, why: 'those are left out by its condition' },
  { of: /^findDue$/, says: /^form may be null$/, why: 'what waits to be mailed has one: notification_mailed' },
  { of: /^findBackups$/, says: /^created_at may be null$/, why: "'SUCCEEDED' has one: job_finished" },
  { of: /^replay$/, says: /^(status|headers) may be null$/, why: 'the transaction that takes a slot fills it' },
  { of: /^settleInterrupted$/, says: /^started_at may be null$/, why: 'leased_until has passed: delivery_under_way' },
  { of: /^readEnded$/, says: /^ended_as may be '(PENDING|FAILED)'$/, why: 'finished_at is not null: delivery_open' },
  { of: /^lookUpCredential$/, says: /^kind may be 'REFRESH'$/, why: 'the statement names the other kinds' },
]

let own: TestDatabase
let schema: SchemaColumns
let statements: WrittenStatement[]
let wrong: WrittenStatement[]
let findings: readonly Finding[]
beforeAll(async () => {
  own = await testDatabase()
  schema = await readSchemaColumns(own.sql)
  const compiler = new API({ cwd: root })
  const config = join(root, 'tsconfig.json')
  const project = compiler.updateSnapshot({ openProjects: [config] }).getProject(config)!
  statements = writtenStatements(project, 'src/')
  wrong = writtenStatements(project, offencesPath)
  compiler.close()
  findings = (await Promise.all(statements.map(findingsOf))).flat()
})
afterAll(() => own.drop())

interface Finding {
  readonly of: string
  readonly where: string
  readonly says: string
}

/** What is wrong with a statement, each in a sentence. */
async function findingsOf({ where, of, ways, unread: words, row }: WrittenStatement): Promise<Finding[]> {
  const said = new Set(words.map((some) => `cannot be followed: ${some}`))
  for (const way of ways) {
    try {
      const columns = await describedColumns(own.sql, schema, way)
      for (const one of row ? contradictions(row, columns) : []) said.add(one)
    } catch (error) {
      said.add(String(error))
    }
  }
  return [...said].map((says) => ({ where, of, says }))
}

const isMeant = (finding: Finding) => (exception: Exception) =>
  exception.of.test(finding.of) && exception.says.test(finding.says)

// It asks for generic plans, which PostgreSQL explains since 16.
describe.skipIf(isOutside)('every statement of the source', () => {
  test('is found', () => {
    expect(statements.length).toBeGreaterThan(500)
    expect(statements.filter(({ row }) => row).length).toBeGreaterThan(250)
  })

  test('is one that PostgreSQL prepares, and answers the row that it names', () => {
    const unexpected = findings.filter((finding) => ![...unread, ...allowed].some(isMeant(finding)))
    expect(unexpected.map(({ where, of, says }) => `${where} ${of}: ${says}`)).toEqual([])
  })

  test.each([...unread, ...allowed])('$of.source, exempt: $why', (exception) => {
    const meant = findings.filter((finding) => isMeant(finding)(exception))
    expect(meant, 'nothing needs this exception any more').not.toEqual([])
  })
})

describe.skipIf(isOutside)('the test catches', () => {
  test.each(Object.entries(offences).map(([name, { caught }], index) => ({ name, caught, index })))(
    '$name',
    async ({ caught, index }) => {
      expect(wrong).toHaveLength(Object.keys(offences).length)
      const said = (await findingsOf(wrong[index]!)).map(({ says }) => says)
      expect(said).toEqual(expect.arrayContaining([expect.stringMatching(caught)]))
    },
  )
})
