import { randomUUID } from 'node:crypto'
import { Flags } from '@oclif/core'
import type { Answer } from '../../../core/contract/operation.ts'
import { type TenantProvision, tenantOperations } from '../../../core/contract/tenants/operations.ts'
import { receive } from '../../../core/kernel/request/validation.ts'
import { CallerCommand } from '../../base-command.ts'
import type { Caller } from '../../call/caller.ts'
import { NotReached } from '../../call/http.ts'
import { Failure } from '../../failure.ts'
import { wayToOperator } from '../../first-run/single-mode.ts'
import { askText, askYesNo, declined, isInteractive } from '../../input/prompts.ts'
import { checkOf } from '../../input/schema-check.ts'
import { keepingToken, tokenFileFlag, withTokenFile } from '../../input/token-file.ts'
import { details } from '../../render/details.ts'
import { moment } from '../../render/moment.ts'

type Provisioned = Answer<typeof tenantOperations.provisionTenant>

export default class TenantsProvision extends CallerCommand {
  static override summary = 'Make a workspace with its owner, a hub and an example collection'
  static override description =
    'On a terminal it asks for missing values. The owner joins with the redemption token, which is shown only once. ' +
    'The call has an Idempotency-Key: if the answer is lost, repeat the command with the printed key, and no second workspace is made.'
  static override examples = [
    '<%= config.bin %> tenants provision',
    '<%= config.bin %> tenants provision --slug acme --display-name "Acme Ltd" --owner-email ada@acme.example --yes',
    '<%= config.bin %> tenants provision --slug acme --display-name Acme --owner-email ada@acme.example --token-file acme.token --json --yes',
  ]
  static override flags = {
    slug: Flags.string({ summary: 'The subdomain of the workspace: 3 to 40 lower-case letters, digits and dashes.' }),
    'display-name': Flags.string({ summary: 'The name that people see.' }),
    'owner-email': Flags.string({ summary: "The owner's e-mail address." }),
    'owner-display-name': Flags.string({ summary: "The owner's name." }),
    locale: Flags.string({ summary: 'The default locale, as BCP 47; default: en.' }),
    'time-zone': Flags.string({ summary: 'The default time zone, as in the IANA database; default: UTC.' }),
    'token-file': tokenFileFlag('the redemption token'),
    'idempotency-key': Flags.string({
      summary: 'The key of an earlier call, to repeat it without making a second workspace.',
      helpValue: 'UUID',
    }),
    yes: Flags.boolean({ char: 'y', summary: 'Do not ask for confirmation.' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(TenantsProvision)
    const asksNothing =
      flags.slug !== undefined && flags['display-name'] !== undefined && flags['owner-email'] !== undefined
    const body = await completed({
      slug: flags.slug,
      display_name: flags['display-name'],
      owner_email: flags['owner-email'],
      owner_display_name: flags['owner-display-name'],
      default_locale: flags.locale,
      default_time_zone: flags['time-zone'],
    })
    // Before the call, which may make the embedded installation: a slug that breaks a rule leaves nothing behind.
    receive(tenantOperations.provisionTenant, { body })
    const caller = await this.open(flags, { makes: true })
    const asks = !asksNothing && !flags.yes
    const plan = `Will provision ${body.slug} (${body.display_name}), owned by ${body.owner_email}, on ${caller.where}.`
    if (asks) this.note(plan)
    else this.tell(plan)
    if (asks && !(await askYesNo('Go on?', true))) throw declined()

    const file = flags['token-file']
    const idempotencyKey = flags['idempotency-key'] ?? randomUUID()
    const call = () => caller.call(tenantOperations.provisionTenant, { body, idempotencyKey })
    const answer = await keepingToken(file, ({ redemption_token }) => redemption_token, call).catch(
      (error: unknown) => {
        throw error instanceof NotReached && error.maybeDone ? lost(error, idempotencyKey) : error
      },
    )
    this.log(shown(answer, file))
    this.tell(nextSteps(answer, caller, file))
    return withTokenFile(answer, 'redemption_token', file)
  }
}

const questions = {
  slug: 'Slug (the subdomain of the workspace):',
  display_name: 'Name of the workspace:',
  owner_email: "The owner's e-mail address:",
} as const

/** Asks for the missing values. Without a terminal it fails (usage) and names the flags. */
async function completed(
  given: { readonly [Name in keyof TenantProvision]: TenantProvision[Name] | undefined },
): Promise<TenantProvision> {
  const flagOf = { slug: '--slug', display_name: '--display-name', owner_email: '--owner-email' } as const
  const names = ['slug', 'display_name', 'owner_email'] as const
  const missing = names.filter((name) => given[name] === undefined)
  if (missing.length > 0 && !isInteractive())
    throw new Failure(
      'usage',
      `Missing: ${missing.map((name) => flagOf[name]).join(', ')}.`,
      'On a terminal, the command asks for them.',
    )
  const answers: Record<string, string> = {}
  for (const name of names)
    answers[name] =
      given[name] ?? (await askText(questions[name], checkOf(tenantOperations.provisionTenant.body, name)))
  const optional = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(optional), ...answers } as TenantProvision
}

const lost = (error: NotReached, key: string) =>
  new Failure(
    'unreached',
    `${error.message} The workspace may have been made nevertheless.`,
    `Repeat the command with --idempotency-key ${key}; no second workspace is made.`,
  )

const shown = (
  { tenant, owner, redemption_token, redemption_expires_at, collection_id }: Provisioned,
  file: string | undefined,
) =>
  details([
    ['workspace', tenant.slug],
    ['id', tenant.id],
    ['owner', owner.email],
    ['owner account', owner.account_id],
    ['collection', collection_id],
    ['redemption token', file ? `written to ${file}` : redemption_token],
    ['valid until', moment(redemption_expires_at)],
  ])

function nextSteps({ tenant, owner }: Provisioned, { way, mode, apiUrl }: Caller, file: string | undefined): string {
  // Always with the URL: the owner works on another machine, without this folder's profile.
  const join = `svc invitations redeem${apiUrl === undefined ? '' : ` --api-url ${apiUrl}`}`
  return [
    '',
    file ? 'The token is only in that file.' : 'The token is shown only this once.',
    ...(way === 'database' ? ['Next: `svc up` serves this installation.'] : []),
    `${way === 'database' ? 'Then' : 'Next:'} give the token to ${owner.email}. They join with \`${join}\``,
    '(or POST /api/v1/auth/invitations:redeem).',
    // In single mode this replaces the set-up, which would have made the first operator.
    ...(mode === 'single' ? [wayToOperator(tenant.slug, owner.email)] : []),
  ].join('\n')
}
