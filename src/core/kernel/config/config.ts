/**
 * Configuration: from the environment and a `.env` file, checked whole before anything starts.
 *
 * Spec: decisions 6, Process interface.
 */
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { type Block, readBlock } from '../egress/addresses.ts'
import { type Release, readRelease } from '../egress/guard.ts'
import { type Preset, productPresets } from '../egress/oidc-presets.ts'
import { ConfigurationError } from '../values/configuration-error.ts'
import { loadEnvironment } from '../values/environment.ts'
import { type BackupSettings, backupSettingsOf, backupVariables } from './backup-settings.ts'
import { type DatabaseSettings, databaseOf, databaseVariables } from './database-settings.ts'
import { type MailSettings, type Relay, readRelay, readSender, type Sender } from './mail-settings.ts'
import { type MediaSettings, mediaSettingsOf, mediaVariables } from './media-settings.ts'
import { type NotificationSettings, notificationSettingsOf, notificationVariables } from './notification-settings.ts'
import { type PrivacySettings, privacySettingsOf, privacyVariables } from './privacy-settings.ts'
import { type RetentionSettings, retentionSettingsOf, retentionVariables } from './retention-settings.ts'
import { readable, secret, wholeNumber } from './variable-kinds.ts'
import { type WebhookSettings, webhookSettingsOf, webhookVariables } from './webhook-settings.ts'

const partsOf = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== '')

/** The variables that are read from the environment; docs/generated/configuration.md is this table. */
export const environment = z.object({
  ...databaseVariables,
  SVC_DATABASE_POOL: wholeNumber(1, 200)
    .default(10)
    .describe('Number of database connections of one daemon; each serves one transaction at a time'),
  SVC_DATA_DIR: z.string().min(1).default('.svc').describe('Folder for everything that is not in the database'),
  SVC_HOST: z.string().min(1).default('127.0.0.1').describe('Address on which the daemon listens'),
  SVC_PORT: wholeNumber(0, 65535).default(8080).describe('Port on which the daemon listens; 0 chooses a free one'),
  SVC_HEALTH_PORT: wholeNumber(0, 65535)
    .optional()
    .describe(
      'Port of a separate listener, on SVC_HOST, for /healthz, /readyz and /metrics. A flood of API calls does not affect it; 0 chooses a free port. Absent, or equal to SVC_PORT: one listener serves everything',
    ),
  SVC_CONNECTIONS: wholeNumber(10, 100_000)
    .default(5000)
    .describe(
      'Maximum number of connections of one daemon. Beyond it the daemon closes the oldest connection without a whole request, of the source that has the most of these. The process must be allowed to open as many files and some hundred more',
    ),
  SVC_CONNECTIONS_PER_SOURCE: wholeNumber(5, 100_000)
    .optional()
    .describe(
      'Maximum number of connections from one IPv4 address or one /64 of IPv6. Absent: half of SVC_CONNECTIONS. A reverse proxy is one address: if only the proxy can connect, use the value of SVC_CONNECTIONS',
    ),
  SVC_DRAIN_NOTICE_SECONDS: wholeNumber(0, 300)
    .default(0)
    .describe(
      'Time for which a daemon that is told to end still accepts connections, in seconds: /readyz answers 503, and each answer ends its connection. For a proxy, longer than it keeps idle connections (docs/deploying.md)',
    ),
  SVC_SLOW_READER_SECONDS: wholeNumber(1, 3600)
    .default(15)
    .describe('Time after which a connection is closed if its client reads nothing of an answer, in seconds'),
  SVC_CLOCK_TOLERANCE_SECONDS: wholeNumber(1, 3600)
    .default(30)
    .describe(
      "How far the clock of the daemon's host may be from the database's, in seconds. Beyond it /readyz answers 503 with the check `clock`. What is stored and signed has the database's time in any case",
    ),
  SVC_WAITING_MEBIBYTES: wholeNumber(8, 100_000)
    .default(64)
    .describe(
      'Maximum size of all answers that wait in memory for their readers, in MiB; a quarter of it for one workspace. Beyond it, the connections of readers that read nothing are closed, and then reads of that workspace are refused (503)',
    ),
  SVC_MODE: z
    .enum(['multi', 'single'])
    .default('multi')
    .describe('Whether the installation has many workspaces, or a single one'),
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
      'Reverse proxies whose X-Forwarded-For is trusted: addresses and blocks, separated by commas. Absent: no proxy is trusted, and behind a proxy all callers count as one address (docs/deploying.md)',
    ),
  SVC_SOURCE_RATE: wholeNumber(0, 1000)
    .default(1)
    .describe(
      'Factor for the rates of calls without a token from one source address, which each operation declares (docs/generated/operations.md); 0 means unlimited',
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
  SVC_SETUP_TOKEN: secret(z.string().min(16, 'must have at least 16 characters').optional()).describe(
    'Token for the set-up. Absent: the daemon makes one and writes it to set-up.token in SVC_DATA_DIR, mode 0600',
  ),
  SVC_EVENT_NAMESPACE: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and dashes')
    .default('svc')
    .describe('The first part of every event type'),
  SVC_LEDGER_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'File of the obligation ledger, which a recovery reads. Absent: ledger.jsonl in SVC_DATA_DIR. Keep it on another disk than the database',
    ),
  SVC_SETTINGS_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'File with the settings of the installation, YAML or JSON, read at start and on SIGHUP. While it is set, the API cannot change the settings (docs/settings.md)',
    ),
  SVC_LEDGER_COPY: z
    .enum(['require', 'report'])
    .default('require')
    .describe(
      'What happens to an action with an obligation if no backup target of the installation stores a copy of its line in the ledger within 5 s. require: the action is refused (503). report: the action continues, and svc doctor and svc recovery status report it. Without a backup target there is no copy',
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
      'What the egress guard allows beyond public addresses: hosts, addresses and blocks, separated by commas. Metadata services are never allowed; an endpoint of this installation is allowed only as host:port',
    ),
  SVC_PUBLIC_URL: z
    .string()
    .regex(/^https?:\/\/[^/?#\s]+(?:\/[^?#\s]*)?$/, 'must be http(s)://host[:port][/path]')
    .optional()
    .describe(
      'The start of links in mail; {slug} stands for the slug of the workspace. Absent: https://{slug}. and SVC_BASE_DOMAIN, or http:// with SVC_HOST and SVC_PORT',
    ),
  SVC_SMTP_URL: readable(readRelay)
    .optional()
    .describe(
      'Relay that mail goes to: smtp[s]://[user:password@]host[:port], with ?tls=off, offered or require after smtp:// (docs/runbooks/mail.md). Absent: mails are written to mail in SVC_DATA_DIR',
    ),
  SVC_MAIL_FROM: readable(readSender)
    .optional()
    .describe('Sender of mail: an address, or Name <address>. Absent: svc at SVC_BASE_DOMAIN, or at localhost'),
  SVC_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
    .default('info')
    .describe("Lowest severity in the daemon's log"),
  SVC_BODY_LIMIT_BYTES: wholeNumber(1024, 104857600)
    .default(1048576)
    .describe('Maximum size of the body of a request, in bytes'),
  SVC_STEP_UP_BOUND: z
    .enum(['optional', 'require'])
    .default('optional')
    .describe('Whether a step-up must name its operation'),
  SVC_OPERATOR_PROBATION_HOURS: wholeNumber(0, 720)
    .default(24)
    .describe('Probation of an operator that is added without a step-up, in hours; 0: no probation'),
  SVC_ADDRESS_HOURS: wholeNumber(1, 168).default(24).describe('Life of the link that confirms an address, in hours'),
  SVC_START_PASSWORD_DAYS: wholeNumber(1, 30).default(7).describe('Life of a start password, in days'),
  SVC_INVITATION_DAYS: wholeNumber(1, 365).default(14).describe('Life of an invitation, in days'),
  SVC_INVITE_MAILS_PER_HOUR: wholeNumber(1, 100_000)
    .default(200)
    .describe('Invitations that one workspace mails in an hour'),
  SVC_SESSION_ACCESS_MINUTES: wholeNumber(1, 1440).default(15).describe("Life of a session's access token, in minutes"),
  SVC_SESSION_REFRESH_DAYS: wholeNumber(1, 365).default(30).describe("Life of a session's refresh token, in days"),
  SVC_SESSION_GRACE_SECONDS: wholeNumber(0, 600)
    .default(60)
    .describe('Time for which a refresh token that was just replaced is taken once more, in seconds; 0: not at all'),
  SVC_PURGE_SETTLE_SECONDS: wholeNumber(1, 2_592_000)
    .default(3600)
    .describe(
      'Time from when a deletion is first seen past its deadline, by both clocks, until its purge may begin, in seconds',
    ),
  ...webhookVariables,
  SVC_SLUG_BLOCK_DAYS: wholeNumber(0, 3650)
    .default(90)
    .describe("Time for which a purged workspace's slug cannot be used again, in days"),
  SVC_OUTBOX_DAYS: wholeNumber(1, 365)
    .default(30)
    .describe(
      'Time for which events can be pulled, in days; they are stored, to be sent again and replayed, until the end of their month is as old',
    ),
  SVC_QUERY_SCAN_ROWS: wholeNumber(100, 1_000_000)
    .default(20_000)
    .describe(
      'Items that one page of a query looks at, fewer where its filter has many conditions or looks up what belongs to them; a page of a wide filter may be short, and the next one goes on',
    ),
  ...notificationVariables,
  ...privacyVariables,
  ...retentionVariables,
  ...mediaVariables,
  ...backupVariables,
})

/** Whether no command may print the value of this variable. */
export const isSecretVariable = (name: string): boolean =>
  name in environment.shape && environment.shape[name as keyof typeof environment.shape].meta()?.['secret'] === true

export interface Config extends BackupSettings, WebhookSettings {
  /** Undefined: the embedded PostgreSQL below `dataDir`. */
  readonly database: DatabaseSettings | undefined
  readonly poolSize: number
  readonly dataDir: string
  readonly host: string
  readonly port: number
  /** Undefined: health and metrics are on `port`. */
  readonly healthPort: number | undefined
  readonly connections: number
  readonly connectionsPerSource: number
  readonly drainNoticeSeconds: number
  readonly slowReaderSeconds: number
  readonly clockToleranceSeconds: number
  /** Maximum size of all waiting answers; one workspace may use a quarter of it. */
  readonly waitingBytes: number
  readonly mode: 'multi' | 'single'
  /** The proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly Block[]
  /** The factor for the rates of operations without a token; 0 means unlimited. */
  readonly sourceRate: number
  /** The domain whose subdomains are the workspaces' slugs; undefined: every host serves every workspace. */
  readonly baseDomain: string | undefined
  readonly keyringFile: string
  readonly setUpToken: string | undefined
  readonly eventNamespace: string
  readonly ledgerFile: string
  /** The start of links in mail; `{slug}` stands for the slug of the workspace. */
  readonly publicUrl: string
  /** The file that enforces the settings; undefined: the settings are in the database. */
  readonly settingsFile: string | undefined
  /** What happens to an action whose ledger line no target stores: it is refused, or done and reported. */
  readonly ledgerCopy: 'require' | 'report'
  readonly egress: Release
  readonly mail: MailSettings
  /** The well-known identity providers; a test has its own. */
  readonly providerPresets: readonly Preset[]
  /** The deadline for one answer of an identity provider, in ms. */
  readonly providerAnswerMs: number
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
  readonly bodyLimitBytes: number
  readonly requiresBoundStepUp: boolean
  readonly operatorProbationHours: number
  readonly addressHours: number
  readonly startPasswordDays: number
  readonly invitationDays: number
  /** Of one workspace. */
  readonly inviteMailsPerHour: number
  readonly sessionAccessMinutes: number
  readonly sessionRefreshDays: number
  readonly sessionGraceSeconds: number
  readonly purgeSettleSeconds: number
  readonly slugBlockDays: number
  readonly outboxDays: number
  readonly notifications: NotificationSettings
  readonly privacy: PrivacySettings
  readonly retention: RetentionSettings
  readonly queryScanRows: number
  readonly media: MediaSettings
}

/** Throws ConfigurationError: one line that names each wrong setting and what it must be. */
export function readConfig(env: NodeJS.ProcessEnv = loadEnvironment()): Config {
  if (env['SVC_FAILPOINTS'] && env['SVC_TEST'] !== '1')
    throw new ConfigurationError(
      'SVC_FAILPOINTS ends the process on purpose. It is only for tests, which set SVC_TEST=1.',
    )
  const set = Object.fromEntries(Object.entries(env).filter(([name, value]) => name.startsWith('SVC_') && value !== ''))
  const parsed = environment.safeParse(set)
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${String(issue.path[0])}: ${issue.message}`)
    throw new ConfigurationError(`The configuration is wrong. ${faults.join('; ')}.`)
  }
  const values = parsed.data
  const dataDir = resolve(values.SVC_DATA_DIR)
  const database = databaseOf(values)
  if (database && !values.SVC_KEYRING_FILE) {
    throw new ConfigurationError(
      'SVC_KEYRING_FILE is not set, but SVC_DATABASE_URL requires it. Set it to the keyring file, or make one with `svc keyring init --file PATH`.',
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
    drainNoticeSeconds: values.SVC_DRAIN_NOTICE_SECONDS,
    slowReaderSeconds: values.SVC_SLOW_READER_SECONDS,
    clockToleranceSeconds: values.SVC_CLOCK_TOLERANCE_SECONDS,
    waitingBytes: values.SVC_WAITING_MEBIBYTES * 1024 * 1024,
    mode: values.SVC_MODE,
    trustedProxies: blocksOf(values.SVC_TRUSTED_PROXIES),
    sourceRate: values.SVC_SOURCE_RATE,
    baseDomain: values.SVC_BASE_DOMAIN,
    keyringFile: values.SVC_KEYRING_FILE ? resolve(values.SVC_KEYRING_FILE) : join(dataDir, 'keyring.json'),
    setUpToken: values.SVC_SETUP_TOKEN,
    eventNamespace: values.SVC_EVENT_NAMESPACE,
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
    ...waysInOf(values),
    purgeSettleSeconds: values.SVC_PURGE_SETTLE_SECONDS,
    slugBlockDays: values.SVC_SLUG_BLOCK_DAYS,
    outboxDays: values.SVC_OUTBOX_DAYS,
    queryScanRows: values.SVC_QUERY_SCAN_ROWS,
    notifications: notificationSettingsOf(values),
    privacy: privacySettingsOf(values),
    retention: retentionSettingsOf(values),
    media: mediaSettingsOf(values, dataDir),
    ...backupSettingsOf(values, dataDir),
    ...webhookSettingsOf(values),
  }
}

const blocksOf = (text: string): readonly Block[] =>
  partsOf(text).flatMap((part) => {
    const block = readBlock(part)
    return block ? [block] : []
  })

/** Two listeners with port 0 get a free port each; two listeners with the same port are one listener. */
const healthPortOf = ({ SVC_PORT: port, SVC_HEALTH_PORT: health }: z.output<typeof environment>) =>
  health === port && port !== 0 ? undefined : health

/** How long what lets people in lives, and how much of it is mailed. */
const waysInOf = (values: z.output<typeof environment>) => ({
  addressHours: values.SVC_ADDRESS_HOURS,
  startPasswordDays: values.SVC_START_PASSWORD_DAYS,
  invitationDays: values.SVC_INVITATION_DAYS,
  inviteMailsPerHour: values.SVC_INVITE_MAILS_PER_HOUR,
  sessionAccessMinutes: values.SVC_SESSION_ACCESS_MINUTES,
  sessionRefreshDays: values.SVC_SESSION_REFRESH_DAYS,
  sessionGraceSeconds: values.SVC_SESSION_GRACE_SECONDS,
})

function ownUrl(values: z.output<typeof environment>): string {
  const { SVC_BASE_DOMAIN: domain, SVC_HOST: host, SVC_PORT: port } = values
  if (domain !== undefined) return `https://{slug}.${domain}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The schema has already refused unreadable values. */
function releaseOf(text: string): Release {
  const release = readRelease(text)
  if ('fault' in release) throw new ConfigurationError(`The configuration is wrong. SVC_EGRESS_ALLOW: ${release.fault}`)
  return release
}

/** The schema has already refused unreadable values. */
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
