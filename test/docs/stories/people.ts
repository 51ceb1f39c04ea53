/** docs/people.md, docs/runbooks/locked-out.md and docs/runbooks/operators.md. */
import { expect } from 'vitest'
import { codeAt } from '../../kit/authenticator.ts'
import { type OidcProvider, oidcProvider, redirectUri } from '../../kit/oidc-provider.ts'
import type { Habit } from '../../kit/terminal.ts'
import { must, password } from '../ground.ts'
import type { Step, Story } from '../story.ts'

let provider: OidcProvider
/** What Betty's browser comes back with, and what her refusal holds. */
let back: Readonly<Record<string, string>> = {}
let linkToken = ''

/** The code of an app that has just read the secret on the screen. */
const learned: Habit = [
  /Code that the app shows[^\n]*:/,
  (_, screen) => {
    const secret = /secret=([A-Z2-7]{32})/.exec(screen.replaceAll(/\s/g, ''))?.[1] ?? ''
    return `${codeAt(secret)}\r`
  },
]

const found = (name: string, said: string): string => {
  const [, text] = new RegExp(`"${name}": *"([^"]+)"`).exec(said.replaceAll(/\r?\n/g, '')) ?? []
  if (text === undefined) throw new Error(`there is no ${name} in ${said}`)
  return text
}

/** "A company's day". */
const day: readonly Step[] = [
  {
    block: 'for one in alan betty',
    play: { shows: ['jan@acme.example', 'Joined acme', /^emil@acme\.example$/m] },
  },
  {
    block: 'svc invitations redeem --token-file betty.token',
    play: {
      before: async (_, terminal) => {
        provider = await oidcProvider()
        const { issuer, clientId, clientSecret } = provider
        await must(terminal, `(umask 077; printf %s '${clientSecret}' > sso.secret)`)
        await must(
          terminal,
          `svc identity-providers add ${issuer} --client-id ${clientId} --client-secret-file sso.secret --name "SSO of the day" --provisioning INVITED_ONLY`,
        )
        await must(terminal, 'svc identity-providers switch "SSO of the day" on')
      },
      replace: () => [['https://app.acme.example/signed-in', redirectUri]],
      after: async (_, __, said) => {
        provider.person('betty', { email: 'betty@acme.example', email_verified: true })
        const brought = await provider.browse(found('authorization_url', said))
        back = { flow_token: found('flow_token', said), ...brought }
      },
    },
  },
  {
    block: '(umask 077; cat > back.json)',
    play: {
      input: { '(umask': () => JSON.stringify(back) },
      codes: { 'svc api POST': 4 },
      shows: ['auth.not_admitted'],
      after: (_, __, said) => {
        linkToken = found('link_token', said)
      },
    },
  },
  {
    block: '(umask 077; cat > link.json)',
    play: {
      input: { '(umask': () => JSON.stringify({ link_token: linkToken }) },
      shows: [/^20\d\d-\d\d-\d\dT/m],
      after: async (_, terminal) => {
        await must(terminal, 'svc identity-providers withdraw "SSO of the day" --now')
        await provider.close()
      },
    },
  },
  {
    block: 'mkdir workshop',
    play: { input: { 'mkdir workshop': password }, shows: ['Signed in', 'as lathe-1 of acme'] },
  },
  {
    block: 'hub="$(svc api',
    play: { codes: { 'svc api GET "/containers/$board" --profile emil': 3 }, shows: [/^Drafts$/m] },
  },
  {
    block: 'svc invitations redeem --token-file cora.token',
    play: {
      codes: { 'svc api GET /accounts/me --profile cora': 4, 'SVC_TOKEN=': 4 },
      shows: ['cora@acme.example is disabled'],
      after: async (ground) => {
        const alive = await ground.sql(
          `select 'alive: ' || count(*) from credential c join account a on a.id = c.account_id where a.email = 'cora@acme.example' and c.revoked_at is null`,
        )
        expect(alive).toContain('alive: 0')
      },
    },
  },
  {
    block: 'mkdir hana',
    play: { answers: () => [learned], shows: ['The second factor of hana@acme.example is removed', 'Signed in'] },
  },
]

export const people: Story = {
  page: 'docs/people.md',
  steps: [
    { block: 'svc accounts invite charles', play: {} },
    { block: 'svc accounts invite mary', play: { shows: ['Joined acme'] } },
    {
      block: 'svc accounts invite guest',
      play: {
        replace: async (ground) => {
          const [, id = ''] =
            /([0-9a-f]{8}-[0-9a-f-]{27})/.exec(
              await ground.sql(`select id from container where kind = 'COLLECTION' limit 1`),
            ) ?? []
          return [['0190c9d2-7a3b-7cde-8f01-23456789abcd', id]]
        },
      },
    },
    {
      block: 'svc accounts renew-invitation charles',
      // An address gets one mail a minute.
      play: { before: (ground) => ground.sql(`update invitation set created_at = created_at - interval '2 minutes'`) },
    },
    { block: 'svc accounts create-managed bench-3', play: {} },
    { block: 'svc accounts start-password bench-3', play: {} },
    { block: 'svc accounts list --find bab', play: { shows: ['charles@acme.example', 'guest@else.example'] } },
    { block: 'svc accounts disable charles', play: {} },
    { block: 'svc accounts list --external-id', play: { shows: ['"data": []'] } },
    {
      inline: 'svc accounts enable',
      play: { replace: () => [['svc accounts enable', 'svc accounts enable charles@acme.example']] },
    },
    {
      block: 'svc accounts list --workspace acme --recovery',
      play: {
        before: async (ground, terminal) => {
          await must(terminal, 'svc tenants provision --slug late --display-name Late --owner-email owner@late.example')
          await ground.stopDaemon()
        },
        replace: () => [
          ['ada@acme.example', 'owner@late.example'],
          ['--workspace acme', '--workspace late'],
        ],
        after: (ground) => ground.startDaemon(),
      },
    },
    { block: 'svc sessions list', play: {} },
    {
      block: 'svc notice set',
      // What stands before has ended her own tokens, too.
      play: {
        before: (_, terminal) => must(terminal, 'svc login --workspace acme --email ada@acme.example --admin'),
        shows: ['Maintenance on Sunday'],
      },
    },
    ...day,
  ],
}

/** Ada is the last owner of `acme` who can sign in, and is disabled, as no operation would do it; her app is gone, too. */
export const lockedOut: Story = {
  page: 'docs/runbooks/locked-out.md',
  steps: [
    {
      block: 'svc accounts list --workspace acme --recovery',
      play: {
        before: async (ground, terminal) => {
          const { code, said } = await terminal.type('svc mfa enroll', [learned])
          expect(code, said).toBe(0)
          await ground.sql(
            `update account set state = 'DISABLED', state_before = 'ACTIVE', disabled_at = now() where email = 'ada@acme.example'`,
          )
          await ground.stopDaemon()
        },
        shows: [/ada@acme\.example +.*DISABLED|DISABLED/],
      },
    },
    {
      block: 'svc accounts enable ada@acme.example',
      play: { shows: ['The second factor of ada@acme.example is removed'] },
    },
    { block: 'svc accounts start-password ada@acme.example', play: { shows: ['ada.password'] } },
    {
      block: '(umask 077; cat > new.password)',
      play: {
        before: (ground) => ground.startDaemon(),
        input: { '(umask': password },
        shows: ['Signed in'],
      },
    },
    {
      block: 'svc tenants open-password acme',
      play: {
        before: (ground) => ground.stopDaemon(),
        after: async (ground, terminal) => {
          expect((await terminal.type('svc journal --recovery')).said).toContain('account.start_password_issued')
          await must(terminal, 'svc tenants close-password acme --recovery')
          await ground.startDaemon()
        },
      },
    },
  ],
}

export const operators: Story = {
  page: 'docs/runbooks/operators.md',
  steps: [
    {
      block: 'svc operators list --recovery',
      play: {
        // Mary has joined by docs/people.md.
        before: (ground) => ground.stopDaemon(),
        replace: () => [['ada@acme.example', 'mary@acme.example']],
        after: async (ground, terminal) => {
          await ground.startDaemon()
          expect((await terminal.type('svc operators list')).said).toContain('mary@')
        },
      },
    },
  ],
}
