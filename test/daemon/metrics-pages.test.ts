/**
 * What names metrics agrees with what a daemon answers: docs/metrics.md, the rules and the dashboard in deploy/.
 *
 * The rules are read by Prometheus' own promtool where it is installed.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { root } from '../house/source.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { shows } from '../kit/needs.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string; readonly remedy: string }
}

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const rules = (parse(read('deploy/prometheus/svc-rules.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
)

/** What Grafana 10 and newer read of a dashboard, as far as ours uses it. */
const Target = z.strictObject({
  refId: z.string().regex(/^[A-Z]$/),
  datasource: z.strictObject({ type: z.literal('prometheus'), uid: z.string().regex(/^\$\{datasource\}$/) }),
  expr: z.string().min(1),
  legendFormat: z.string(),
})
const gridPos = z.strictObject({ x: z.int().min(0), y: z.int().min(0), w: z.int().min(1).max(24), h: z.int().min(1) })
const Graph = z.object({
  id: z.int(),
  type: z.enum(['stat', 'timeseries']),
  title: z.string().min(1),
  description: z.string().min(1),
  gridPos,
  targets: z.array(Target).min(1),
  fieldConfig: z.object({ defaults: z.object({ unit: z.string() }), overrides: z.array(z.never()) }),
})
const RowPanel = z.object({ id: z.int(), type: z.literal('row'), title: z.string().min(1), gridPos })
const Dashboard = z.object({
  id: z.null(),
  uid: z.string().max(40),
  title: z.string(),
  schemaVersion: z.int().min(36),
  templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.enum(['datasource', 'query']) })) }),
  panels: z.array(z.union([Graph, RowPanel])),
})
const dashboard = Dashboard.parse(JSON.parse(read('deploy/grafana/svc.json')))
const targets = dashboard.panels.flatMap((panel) => ('targets' in panel ? panel.targets : []))

/** The metrics that an expression names; a histogram's parts count as the histogram. */
const metricsIn = (expr: string) =>
  [...expr.matchAll(/\b(?:svc|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => name.replace(/_(?:bucket|count|sum)$/, ''))

let daemon: TestDaemon
let scraped: ReadonlyMap<string, string>
beforeAll(async () => {
  daemon = await testDaemon({ role: 'all' })
  const { text } = await daemon.call('GET', '/metrics')
  scraped = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]))
})
afterAll(() => daemon.close())
const own = () => [...scraped.keys()].filter((name) => name.startsWith('svc_')).sort()

test('names of counters end in _total, and no others do', () => {
  const wrong = [...scraped].filter(
    ([name, type]) => name.startsWith('svc_') && (type === 'counter') !== name.endsWith('_total'),
  )
  expect(wrong).toEqual([])
  expect(own().length).toBeGreaterThan(30)
})

test('docs/metrics.md has a row for each metric of a daemon that works, and for no other', () => {
  const rows = [...read('docs/metrics.md').matchAll(/^\| `(svc_[a-z_]+)` \| .+ \| .+ \|$/gm)].map(([, name]) => name)
  expect(rows.toSorted()).toEqual(own())
})

test('the rules and the dashboard name metrics that there are', () => {
  const named = [...rules.map(({ expr }) => expr), ...targets.map(({ expr }) => expr)].flatMap(metricsIn)
  expect([...new Set(named)].filter((name) => !scraped.has(name))).toEqual([])
  expect(new Set(named).size).toBeGreaterThan(30)
})

test('the dashboard shows each metric of ours but the moment of a reading and what is shown as a part of others', () => {
  const shown = new Set(targets.flatMap(({ expr }) => metricsIn(expr)))
  expect(own().filter((name) => !shown.has(name))).toEqual([
    'svc_backlog_read_timestamp_seconds',
    'svc_readers_closed_total',
  ])
})

test('panels have ids of their own, and none covers another', () => {
  const ids = dashboard.panels.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
  expect(dashboard.panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true)
})

test('each alert says what to do, and its page is there', () => {
  for (const { alert, annotations } of rules) {
    expect(annotations.summary, alert).not.toBe('')
    for (const [, page = ''] of annotations.remedy.matchAll(/(docs\/[a-z/-]+\.md)/g)) expect(read(page)).not.toBe('')
  }
})

test('the commands that they name are there', () => {
  const texts = [read('docs/metrics.md'), ...rules.map(({ annotations }) => annotations.remedy)].join('\n')
  const commands = [...texts.matchAll(/\bsvc((?: [a-z-]+)+)(?=`|$)/gm)].map(([, words = '']) => words.trim())
  expect(commands).toContain('deliveries stats')
  expect(commands).toContain('recovery status')
  const missing = commands.filter(
    (words) => !existsSync(join(root, `src/cli/commands/${words.replaceAll(' ', '/')}.ts`)),
  )
  expect(missing).toEqual([])
})

const promtool = process.env['SVC_TEST_PROMTOOL'] ?? 'promtool'
const hasPromtool = shows(
  'the rules of alerts',
  'promtool (apt-get install prometheus, or SVC_TEST_PROMTOOL)',
  spawnSync(promtool, ['--version']).status === 0,
)

describe.runIf(hasPromtool)('promtool', () => {
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(promtool, args, {
      cwd: join(root, 'deploy/prometheus'),
      encoding: 'utf8',
    })
    return { status, said: stdout + stderr }
  }

  test('accepts the rules, and their tests pass', () => {
    expect(run('check', 'rules', 'svc-rules.yml')).toMatchObject({ status: 0 })
    expect(run('test', 'rules', 'svc-rules.test.yml')).toMatchObject({ status: 0 })
  })

  test('accepts every expression of the dashboard', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-rules-'))
    const file = join(folder, 'dashboard.yml')
    // With a window in place of the variable that Grafana fills in.
    const recorded = targets.map(({ expr }, at) => ({
      record: `panel:${at}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    }))
    try {
      writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules: recorded }] }))
      expect(run('check', 'rules', file)).toMatchObject({ status: 0 })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('accepts what a daemon answers', async () => {
    const { text } = await daemon.call('GET', '/metrics')
    const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' })
    // Its style rules find faults in what prom-client itself adds.
    const faults = `${stdout}${stderr}`.split('\n').filter((line) => line.startsWith('svc_'))
    expect([status === 0 || status === 3, faults]).toEqual([true, []])
  })
})
