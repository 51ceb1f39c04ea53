/** docs/sign-in.md, with a real identity provider and an authenticator app. */
import { expect } from 'vitest'
import { codeAt } from '../../kit/authenticator.ts'
import { type OidcProvider, oidcProvider } from '../../kit/oidc-provider.ts'
import type { Habit } from '../../kit/terminal.ts'
import { type Ground, password } from '../ground.ts'
import type { Story } from '../story.ts'

let provider: OidcProvider
let secret = ''

const code: Habit = [/(?:Code of your authenticator app|Code that the app shows)[^\n]*:/, () => `${codeAt(secret)}\r`]
const learned: Habit = [
  /Code that the app shows[^\n]*:/,
  (_, screen) => {
    secret = /secret=([A-Z2-7]{32})/.exec(screen.replaceAll(/\s/g, ''))?.[1] ?? ''
    return `${codeAt(secret)}\r`
  },
]
/** A code counts once; a person waits for the next. */
const forget = (ground: Ground) => ground.sql('update second_factor set last_step = 0 where confirmed_at is not null')

export const signingIn: Story = {
  page: 'docs/sign-in.md',
  steps: [
    { block: 'svc login --workspace acme', play: { shows: ['acme'] } },
    {
      block: '(umask 077; cat > svc.secret)',
      play: {
        before: async () => {
          provider = await oidcProvider()
        },
        replace: () => [
          ['https://sso.acme.example', provider.issuer],
          ['--client-id svc', `--client-id ${provider.clientId}`],
        ],
        input: { '(umask': () => provider.clientSecret },
        shows: ['Acme SSO'],
      },
    },
    { block: 'svc identity-providers switch', play: { shows: ['is on for your workspace', 'ada@acme.example'] } },
    {
      block: 'svc identity-providers withdraw "Acme SSO" --plan',
      play: { shows: ['has ended', 'is offered'], after: () => provider.close() },
    },
    { block: 'svc tenants open-password acme', play: { shows: ['Mail '] } },
    { inline: 'svc tenants close-password acme', play: {} },
    { block: 'svc mfa enroll', play: { answers: () => [learned], shows: ['Recovery codes'] } },
    { inline: 'svc mfa status', play: {} },
    { inline: 'svc mfa recovery-codes', play: { before: forget, answers: () => [code] } },
    { inline: 'svc mfa enroll --replace', play: { before: forget, answers: () => [code, learned] } },
    { inline: 'svc mfa remove', play: { before: forget, answers: () => [code] } },
    {
      block: '(umask 077; cat > me.password)',
      play: { needs: ['oathtool', 'jq'], input: { '(umask': password }, shows: ['acme'] },
    },
    // It takes somebody who has a second factor and is not the one who types.
    { block: 'svc mfa remove --email ada@acme.example', elsewhere: 'test/cli/second-factor.test.ts' },
    { block: 'svc sessions list', play: {} },
    {
      block: 'svc signin explain acme',
      play: { shows: ['can sign in to acme'], after: (_, __, said) => expect(said).toContain('second factor') },
    },
  ],
}
