/**
 * What an installation may decide, by name: the switches of signing in, links, what a new
 * workspace starts with, ceilings, which AI may be used.
 *
 * Every member is optional: an absent one means that the operator decided nothing, and the
 * product's own value counts (defaults.ts). A switch of `sign_in` may be locked.
 *
 * Spec: InstanceSettings; Admin: installation settings, rule 1; decisions 4.
 */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { type QuotaName, quotaNames } from '../quotas.ts'
import { count, int64, text, version, webUri } from '../vocabulary.ts'

/** One sign-in switch: what it says, and whether a workspace may say otherwise. */
const switchOf = <Value extends z.ZodType>(value: Value) =>
  z
    .strictObject({
      value: value.describe('what the installation decides'),
      locked: z.boolean().optional().describe('applies to every workspace, whatever it chose; absent: false'),
      reason: text(1, 500).nullish().describe('shown to the workspaces'),
    })
    .optional()

const yesOrNo = () => switchOf(z.boolean())

/** A list of known values, each at most once. */
const setOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z
    .array(z.enum(values))
    .min(1)
    .check((context) => {
      if (new Set(context.value).size < context.value.length)
        context.issues.push({ code: 'custom', input: context.value, params: { rule: 'list.unique' } })
    })
    .meta({ uniqueItems: true })

export const signInMethods = ['PASSWORD', 'PROVIDER'] as const
const mfaGroups = ['NONE', 'OPERATORS', 'ADMINS', 'ALL'] as const
export const weekStarts = ['MONDAY', 'SATURDAY', 'SUNDAY'] as const
export const jurisdictions = ['SELF_HOSTED', 'EEA', 'ADEQUACY', 'THIRD_COUNTRY'] as const

/** The switches of signing in, in the order tables show them; lengths in code points. */
export const signInSwitches = {
  password_enabled: yesOrNo(),
  password_min_length: switchOf(count(8, 128)),
  password_max_length: switchOf(count(64, 1024)),
  password_require_lowercase: yesOrNo(),
  password_require_uppercase: yesOrNo(),
  password_require_digit: yesOrNo(),
  password_require_symbol: yesOrNo(),
  password_reject_common: yesOrNo().describe('refuses the shipped list and the blocklist file'),
  password_reject_context: yesOrNo().describe("refuses the account's and the workspace's own names in a password"),
  password_history: switchOf(count(0, 24)).describe('earlier passwords that do not serve again'),
  password_max_age_days: switchOf(count(0, 3650)).describe('0: never too old'),
  password_lockout_attempts: switchOf(count(0, 100)).describe(
    'failures in 15 minutes that lock for 15 minutes; 0: never',
  ),
  password_self_service_reset: yesOrNo(),
  mfa_required_for: switchOf(z.enum(mfaGroups)),
  methods: switchOf(setOf(signInMethods)).describe('ways in that a workspace may offer'),
  session_idle_minutes: switchOf(count(0, 525_600)).describe('0: no bound but the life of a refresh token'),
  session_absolute_hours: switchOf(count(0, 87_600)).describe('0: no bound'),
  managed_accounts: yesOrNo(),
  private_hubs: yesOrNo(),
} as const

const link = webUri(2000).optional()

const ceilings = Object.fromEntries(quotaNames.map((name) => [name, int64.optional()])) as Record<
  QuotaName,
  z.ZodOptional<typeof int64>
>

const SignInSettings = z.strictObject(signInSwitches).check((context) => {
  const { password_min_length: least, password_max_length: most } = context.value
  if (least && most && least.value > most.value)
    context.issues.push({
      code: 'custom',
      input: least.value,
      path: ['password_min_length', 'value'],
      params: { rule: 'value.maximum', maximum: most.value },
    })
})

const LegalSettings = z
  .strictObject({
    terms_url: link,
    privacy_url: link,
    imprint_url: link,
    accessibility_url: link,
    terms_version: text(1, 100).optional().describe('version of the terms link'),
  })
  .check((context) => {
    if (context.value.terms_version !== undefined && context.value.terms_url === undefined)
      context.issues.push({
        code: 'custom',
        input: undefined,
        path: ['terms_url'],
        params: { rule: 'member.required' },
      })
  })

const decided = {
  sign_in: SignInSettings.optional(),
  legal: LegalSettings.optional(),
  localisation: z
    .strictObject({
      locale: text(1, 35).optional().describe('BCP 47'),
      time_zone: text(1, 64).optional().describe('IANA'),
      week_start: z.enum(weekStarts).optional(),
    })
    .optional(),
  quotas: z.strictObject(ceilings).optional(),
  ai: z
    .strictObject({
      allowed_jurisdictions: setOf(jurisdictions).optional(),
      third_country_confirmed: z.boolean().optional(),
    })
    .optional(),
  blocklist_file: text(1, 1024).optional().describe("path to the operator's own list of refused passwords"),
} as const

/** What the enforcing file holds: the decisions alone. */
const SettingsDocument = z.strictObject(decided)
export type SettingsDocument = z.output<typeof SettingsDocument>

export const InstanceSettingsRequest = z
  .strictObject({
    ...decided,
    source: z.string().optional().describe('ignored'),
    is_enforced_from_file: z.boolean().optional().describe('ignored'),
    version: z.int().optional().describe('ignored'),
  })
  .meta({ id: 'InstanceSettingsRequest' })

const InstanceSettings = z
  .object({
    ...decided,
    source: z.string().describe('`database`, or the path of the enforcing file'),
    is_enforced_from_file: z.boolean(),
    version,
  })
  .meta({ id: 'InstanceSettings' })
export type InstanceSettings = z.output<typeof InstanceSettings>

export const settingsOperations = defineOperations('admin', {
  getSettings: {
    method: 'GET',
    path: '/admin/settings',
    summary: 'What the installation decided',
    spec: 'Admin: installation settings; decisions 4',
    success: { status: 200, answer: InstanceSettings },
    needs: { caller: 'operator' },
    recovery: 'allowed',
    assumed: ['`source` is `database`, or the path of the enforcing file'],
  },
  replaceSettings: {
    method: 'PUT',
    path: '/admin/settings',
    summary: 'Decide anew, as a whole: what is left out is decided no longer',
    spec: 'Admin: installation settings, rule 1; decisions 4',
    body: InstanceSettingsRequest,
    success: { status: 200, answer: InstanceSettings },
    needs: { caller: 'operator' },
    refuses: ['admin.settings_enforced'],
    ifMatch: true,
    recovery: 'allowed',
    assumed: [
      'a PUT that moves no switch writes no entry and keeps the version',
      '`methods` are the ways in that a workspace may offer: PASSWORD, PROVIDER',
      'bounds and defaults of every switch (docs/settings.md)',
    ],
  },
})
