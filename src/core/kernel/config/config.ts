/**
 * Configuration: from the environment and a `.env` file, checked whole before anything starts.
 *
 * Spec: decisions 6, Process interface.
 */
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { addressOf, type DatabaseAddress } from '../database/address.ts'
import { type Block, readBlock } from '../egress/addresses.ts'
import { type Release, readRelease } from '../egress/guard.ts'
import { type Preset, productPresets } from '../egress/oidc-presets.ts'
import { ConfigurationError } from '../values/configuration-error.ts'
import { loadEnvironment } from '../values/environment.ts'
import { type MailSettings, type Relay, readRelay, readSender, type Sender } from './mail-settings.ts'
import { readLadder } from './retry-ladder.ts'

const wholeNumber = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, `must be a whole number`)
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum))

/** A text that `read` makes sense of, or says what is wrong with. */
const readable = <T extends object>(read: (text: string) => T | { readonly fault: string }) =>
  z.string().check((context) => {
    const made = read(context.value)
    if ('fault' in made) context.issues.push({ code: 'custom', input: context.value, message: made.fault })
  })

const partsOf = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== '')

/** What is read from the environment; docs/generated/configuration.md is this table. */
export const environment = z.object({
  SVC_DATABASE_URL: z
    .string()
    .optional()
    .describe('PostgreSQL 15 or newer that the daemon logs in to. Absent: the embedded PostgreSQL below SVC_DATA_DIR'),
  SVC_DATABASE_OWNER_URL: z
    .string()
    .optional()
    .describe(
      "The same database as its owner, for migrations. Absent: SVC_DATABASE_URL, so that the daemon's login owns the tables",
    ),
  SVC_DATABASE_POOL: wholeNumber(1, 200)
    .default(10)
    .describe('Connections of one daemon, each serving one transaction at a time'),
  SVC_DATA_DIR: z.string().min(1).default('.svc').describe('Folder of everything that is not in the database'),
  SVC_HOST: z.string().min(1).default('127.0.0.1').describe('Address the daemon listens on'),
  SVC_PORT: wholeNumber(0, 65535).default(8080).describe('Port the daemon listens on; 0 takes a free one'),
  SVC_HEALTH_PORT: wholeNumber(0, 65535)
    .optional()
    .describe(
      'Port of a listener of its own, on SVC_HOST, for /healthz, /readyz and /metrics, which a flood of the other one does not reach; 0 takes a free one. Absent, or SVC_PORT itself: there is one listener for all',
    ),
  SVC_CONNECTIONS: wholeNumber(10, 100_000)
    .default(5000)
    .describe(
      'Connections of one daemon at once. Beyond them the oldest one without a whole request gives way, of the source that has most of those; the process may open as many files and some hundred more',
    ),
  SVC_CONNECTIONS_PER_SOURCE: wholeNumber(5, 100_000)
    .optional()
    .describe(
      'Connections at once from one IPv4 address or one /64 of IPv6. Absent: half of SVC_CONNECTIONS. A proxy in front is one address: give it all of them where nobody else can connect',
    ),
  SVC_SLOW_READER_SECONDS: wholeNumber(1, 3600)
    .default(15)
    .describe('After how long a connection is closed that takes nothing of an answer, in seconds'),
  SVC_WAITING_MEBIBYTES: wholeNumber(8, 100_000)
    .default(64)
    .describe(
      'How much of answers may wait in memory to be taken, in MiB; a quarter of it for one workspace. Beyond it readers that take nothing are closed, then reads of that workspace are refused (503)',
    ),
  SVC_MODE: z
    .enum(['multi', 'single'])
    .default('multi')
    .describe('Whether the installation serves many workspaces, or one that is the installation'),
  SVC_TRUSTED_PROXIES: z
    .string()
    .check((context) => {
      const fault = partsOf(context.value).find((part) => readBlock(part) === undefined)
      if (fault !== undefined)
        context.issues.push({
          code: 'custom',
          input: context.value,
          message: `"${fault}" is neither an address nor a block such as 10.0.0.0/8`,
        })
    })
    .default('')
    .describe(
      'Reverse proxies whose X-Forwarded-For is believed: addresses and blocks, separated by commas. Absent: none, so that behind a proxy all callers count as one address (docs/deploying.md)',
    ),
  SVC_SOURCE_RATE: wholeNumber(0, 1000)
    .default(1)
    .describe(
      'How many times as many calls without a token one source address may make as each operation declares (docs/generated/operations.md); 0 is unlimited',
    ),
  SVC_BASE_DOMAIN: z
    .string()
    .regex(/^[a-z0-9.-]{1,253}$/, 'must be a domain in lower case')
    .optional()
    .describe("Domain whose subdomains are the workspaces' slugs. Absent: every host serves every workspace"),
  SVC_KEYRING_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('The keyring, mode 0600. Absent: keyring.json in SVC_DATA_DIR; required with SVC_DATABASE_URL'),
  SVC_SETUP_TOKEN: z
    .string()
    .min(16, 'must have at least 16 characters')
    .optional()
    .describe('Token for the first set-up. Absent: the daemon makes one and prints it'),
  SVC_EVENT_NAMESPACE: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and dashes')
    .default('svc')
    .describe('First part of every event type'),
  SVC_BACKUP_DIR: z
    .string()
    .min(1)
    .optional()
    .describe('Folder that LOCAL backup targets lie in. Absent: backups in SVC_DATA_DIR'),
  SVC_LEDGER_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The obligation ledger, which a recovery reads. Absent: ledger.jsonl in SVC_DATA_DIR. Keep it on another disk than the database',
    ),
  SVC_SETTINGS_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The settings of the installation as a file, YAML or JSON, read at start and on SIGHUP; while it is set they cannot be changed over the API (docs/settings.md)',
    ),
  SVC_LEDGER_COPY: z
    .enum(['require', 'report'])
    .default('require')
    .describe(
      'What becomes of an act that owes a line in the obligation ledger when no backup target of the installation takes the copy within 5 s. require: it is refused (503). report: it goes on, and is a finding of svc doctor and svc recovery status. Without a target there is no copy',
    ),
  SVC_EGRESS_ALLOW: z
    .string()
    .check((context) => {
      const release = readRelease(context.value)
      if ('fault' in release)
        context.issues.push({
          code: 'custom',
          input: context.value,
          message: `"${release.fault}" is neither a host, host:port, an address nor a block such as 10.0.0.0/8`,
        })
    })
    .default('')
    .describe(
      'What the egress guard releases beyond the internet: hosts, addresses and blocks, separated by commas. Metadata services are never released; an endpoint of this installation itself only as host:port',
    ),
  SVC_PUBLIC_URL: z
    .string()
    .regex(/^https?:\/\/[^/?#\s]+(?:\/[^?#\s]*)?$/, 'must be http(s)://host[:port][/path]')
    .optional()
    .describe(
      'What links in mails begin with; {slug} stands for the workspace. Absent: https://{slug}. and SVC_BASE_DOMAIN, or http:// with SVC_HOST and SVC_PORT',
    ),
  SVC_SMTP_URL: readable(readRelay)
    .optional()
    .describe(
      'Relay that mail goes to: smtp[s]://[user:password@]host[:port], with ?tls=off, offered or require after smtp:// (docs/runbooks/mail.md). Absent: mails are written to mail in SVC_DATA_DIR',
    ),
  SVC_MAIL_FROM: readable(readSender)
    .optional()
    .describe('Who mails are from: an address, or Name <address>. Absent: svc at SVC_BASE_DOMAIN, or at localhost'),
  SVC_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
    .default('info')
    .describe("Least severity of the daemon's log"),
  SVC_BODY_LIMIT_BYTES: wholeNumber(1024, 104857600).default(1048576).describe('Largest body of a request, in bytes'),
  SVC_STEP_UP_BOUND: z
    .enum(['optional', 'require'])
    .default('optional')
    .describe('Whether a step-up must name the operation it is for'),
  SVC_OPERATOR_PROBATION_HOURS: wholeNumber(0, 720)
    .default(24)
    .describe(
      'How long whoever enters the operator register without a step-up is on probation, in hours; 0: not at all',
    ),
  SVC_INVITATION_DAYS: wholeNumber(1, 365).default(14).describe('Life of an invitation, in days'),
  SVC_SESSION_ACCESS_MINUTES: wholeNumber(1, 1440).default(15).describe("Life of a session's access token, in minutes"),
  SVC_SESSION_REFRESH_DAYS: wholeNumber(1, 365).default(30).describe("Life of a session's refresh token, in days"),
  SVC_PURGE_SETTLE_SECONDS: wholeNumber(1, 2_592_000)
    .default(3600)
    .describe(
      'How long a deletion has to be seen past its deadline, by both clocks, before its purge begins, in seconds',
    ),
  SVC_WEBHOOK_RETRY_SECONDS: z
    .string()
    .check((context) => {
      if (readLadder(context.value) === undefined)
        context.issues.push({
          code: 'custom',
          input: context.value,
          message: 'must be one to eight whole numbers of seconds up to 2592000, separated by commas',
        })
    })
    .default('0,5,300,1800,7200,18000,36000,36000')
    .describe(
      'How long each of the eight attempts at a delivery waits after the one before, in seconds, give or take a tenth; of a shorter list the last number counts for the rest',
    ),
  SVC_WEBHOOK_DISABLE_AFTER: z
    .string()
    .regex(/^[1-9][0-9]{0,6}(,[0-9]{1,8})?$/, 'must be COUNT or COUNT,SECONDS')
    .default('40,86400')
    .describe(
      'After how many failed attempts without a success between them, over at least how many seconds, a webhook is disabled: COUNT,SECONDS. COUNT alone keeps the 86400 seconds',
    ),
  SVC_SLUG_BLOCK_DAYS: wholeNumber(0, 3650)
    .default(90)
    .describe("How long a purged workspace's slug stays out of use, in days"),
  SVC_OUTBOX_DAYS: wholeNumber(1, 365)
    .default(30)
    .describe('How long events are kept to be pulled, sent again and replayed, in days'),
})

export interface Config {
  /** Undefined: the embedded PostgreSQL below `dataDir`. */
  readonly database: { readonly owner: DatabaseAddress; readonly daemon: DatabaseAddress } | undefined
  readonly poolSize: number
  readonly dataDir: string
  readonly host: string
  readonly port: number
  /** Undefined: health and metrics are on `port`. */
  readonly healthPort: number | undefined
  readonly connections: number
  readonly connectionsPerSource: number
  readonly slowReaderSeconds: number
  /** What may wait of answers in all; one workspace has a quarter of it. */
  readonly waitingBytes: number
  readonly mode: 'multi' | 'single'
  /** Whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly Block[]
  /** What the rates of operations without a token are multiplied by; 0 is unlimited. */
  readonly sourceRate: number
  /** The domain whose subdomains are the workspaces' slugs; undefined serves every host alike. */
  readonly baseDomain: string | undefined
  readonly keyringFile: string
  readonly setUpToken: string | undefined
  readonly eventNamespace: string
  readonly backupDir: string
  readonly ledgerFile: string
  /** What links in mails begin with; `{slug}` stands for the workspace. */
  readonly publicUrl: string
  /** The enforcing file; undefined: the settings are the database's. */
  readonly settingsFile: string | undefined
  /** What becomes of an act whose line no target takes: refused, or done and reported. */
  readonly ledgerCopy: 'require' | 'report'
  readonly egress: Release
  readonly mail: MailSettings
  /** The marked identity providers; a test has some of its own. */
  readonly providerPresets: readonly Preset[]
  /** How long one answer of an identity provider may take, in ms. */
  readonly providerAnswerMs: number
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
  readonly bodyLimitBytes: number
  readonly requiresBoundStepUp: boolean
  readonly operatorProbationHours: number
  readonly invitationDays: number
  readonly sessionAccessMinutes: number
  readonly sessionRefreshDays: number
  readonly purgeSettleSeconds: number
  readonly slugBlockDays: number
  readonly outboxDays: number
  /** Seconds before each of the eight attempts at a delivery. */
  readonly webhookRetrySeconds: readonly number[]
  readonly webhookDisableAfter: { readonly failures: number; readonly seconds: number }
}

/** Throws ConfigurationError: one line that names each wrong setting and what it must be. */
export function readConfig(env: NodeJS.ProcessEnv = loadEnvironment()): Config {
  if (env['SVC_FAILPOINTS'] && env['SVC_TEST'] !== '1')
    throw new ConfigurationError('SVC_FAILPOINTS kills the process on purpose. It is for tests, which set SVC_TEST=1.')
  const set = Object.fromEntries(Object.entries(env).filter(([name, value]) => name.startsWith('SVC_') && value !== ''))
  const parsed = environment.safeParse(set)
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${String(issue.path[0])}: ${issue.message}`)
    throw new ConfigurationError(`The configuration is wrong. ${faults.join('; ')}.`)
  }
  const values = parsed.data
  const dataDir = resolve(values.SVC_DATA_DIR)
  const database = databaseOf(values.SVC_DATABASE_URL, values.SVC_DATABASE_OWNER_URL)
  if (database && !values.SVC_KEYRING_FILE) {
    throw new ConfigurationError(
      'SVC_KEYRING_FILE is not set. With SVC_DATABASE_URL it is required: name the file, or make one with `svc keyring init --file PATH`.',
    )
  }
  return {
    database,
    poolSize: values.SVC_DATABASE_POOL,
    dataDir,
    host: values.SVC_HOST,
    port: values.SVC_PORT,
    healthPort: healthPortOf(values),
    connections: values.SVC_CONNECTIONS,
    connectionsPerSource: values.SVC_CONNECTIONS_PER_SOURCE ?? Math.ceil(values.SVC_CONNECTIONS / 2),
    slowReaderSeconds: values.SVC_SLOW_READER_SECONDS,
    waitingBytes: values.SVC_WAITING_MEBIBYTES * 1024 * 1024,
    mode: values.SVC_MODE,
    trustedProxies: blocksOf(values.SVC_TRUSTED_PROXIES),
    sourceRate: values.SVC_SOURCE_RATE,
    baseDomain: values.SVC_BASE_DOMAIN,
    keyringFile: values.SVC_KEYRING_FILE ? resolve(values.SVC_KEYRING_FILE) : join(dataDir, 'keyring.json'),
    setUpToken: values.SVC_SETUP_TOKEN,
    eventNamespace: values.SVC_EVENT_NAMESPACE,
    backupDir: values.SVC_BACKUP_DIR ? resolve(values.SVC_BACKUP_DIR) : join(dataDir, 'backups'),
    ledgerFile: values.SVC_LEDGER_FILE ? resolve(values.SVC_LEDGER_FILE) : join(dataDir, 'ledger.jsonl'),
    publicUrl: values.SVC_PUBLIC_URL ?? ownUrl(values),
    settingsFile: values.SVC_SETTINGS_FILE ? resolve(values.SVC_SETTINGS_FILE) : undefined,
    ledgerCopy: values.SVC_LEDGER_COPY,
    egress: releaseOf(values.SVC_EGRESS_ALLOW),
    mail: mailOf(values, dataDir),
    providerPresets: productPresets,
    providerAnswerMs: 10_000,
    logLevel: values.SVC_LOG_LEVEL,
    bodyLimitBytes: values.SVC_BODY_LIMIT_BYTES,
    requiresBoundStepUp: values.SVC_STEP_UP_BOUND === 'require',
    operatorProbationHours: values.SVC_OPERATOR_PROBATION_HOURS,
    invitationDays: values.SVC_INVITATION_DAYS,
    sessionAccessMinutes: values.SVC_SESSION_ACCESS_MINUTES,
    sessionRefreshDays: values.SVC_SESSION_REFRESH_DAYS,
    purgeSettleSeconds: values.SVC_PURGE_SETTLE_SECONDS,
    slugBlockDays: values.SVC_SLUG_BLOCK_DAYS,
    outboxDays: values.SVC_OUTBOX_DAYS,
    webhookRetrySeconds: readLadder(values.SVC_WEBHOOK_RETRY_SECONDS) ?? [],
    webhookDisableAfter: disabling(values.SVC_WEBHOOK_DISABLE_AFTER),
  }
}

const blocksOf = (text: string): readonly Block[] =>
  partsOf(text).flatMap((part) => {
    const block = readBlock(part)
    return block ? [block] : []
  })

function disabling(text: string): Config['webhookDisableAfter'] {
  const [failures = '', seconds = '86400'] = text.split(',')
  return { failures: Number(failures), seconds: Number(seconds) }
}

/** Any number of listeners may take a free port; a number that both name is one listener. */
const healthPortOf = ({ SVC_PORT: port, SVC_HEALTH_PORT: health }: z.output<typeof environment>) =>
  health === port && port !== 0 ? undefined : health

function ownUrl(values: z.output<typeof environment>): string {
  const { SVC_BASE_DOMAIN: domain, SVC_HOST: host, SVC_PORT: port } = values
  if (domain !== undefined) return `https://{slug}.${domain}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The schema has refused what cannot be read. */
function releaseOf(text: string): Release {
  const release = readRelease(text)
  if ('fault' in release) throw new ConfigurationError(`The configuration is wrong. SVC_EGRESS_ALLOW: ${release.fault}`)
  return release
}

/** The schema has refused what cannot be read. */
function mailOf(
  { SVC_SMTP_URL: relay, SVC_MAIL_FROM: from, SVC_BASE_DOMAIN: domain }: z.output<typeof environment>,
  dataDir: string,
): MailSettings {
  return {
    relay: relay === undefined ? undefined : (readRelay(relay) as Relay),
    folder: join(dataDir, 'mail'),
    from: readSender(from ?? `svc@${domain ?? 'localhost'}`) as Sender,
  }
}

/** Migrations run as the owner; without SVC_DATABASE_OWNER_URL the daemon's login is the owner too, and `svc doctor` says so. */
function databaseOf(daemonUrl: string | undefined, ownerUrl: string | undefined): Config['database'] {
  if (!daemonUrl) return undefined
  try {
    return { daemon: addressOf(daemonUrl), owner: addressOf(ownerUrl ?? daemonUrl) }
  } catch (error) {
    throw new ConfigurationError(`The configuration is wrong. SVC_DATABASE_URL: ${(error as Error).message}`)
  }
}
