/** docs/keyring.md and its run-book. The keys are changed in earnest. */
import { expect } from 'vitest'
import { keyringIn } from '../../kit/keyrings.ts'
import type { Ground } from '../ground.ts'
import type { Story } from '../story.ts'

let added = ''
let old = ''
const current = ({ env }: Ground) => keyringIn(env['SVC_KEYRING_FILE'] ?? '').current

/** A line of the daemon's log, after SIGHUP. */
const isReadAgain = async (ground: Ground, times: number) =>
  expect.poll(() => ground.log().split('the keyring was read again').length - 1, { timeout: 20_000 }).toBe(times)

export const keyring: Story = {
  page: 'docs/keyring.md',
  steps: [
    { block: 'svc keyring show', play: {} },
    {
      block: 'svc keyring add',
      play: {
        before: (ground) => {
          old = current(ground)
        },
        after: (_, __, said) => {
          added = /^(k\d{8}-\w+)\s*$/m.exec(said)?.[1] ?? ''
          expect(added).not.toBe('')
        },
      },
    },
    {
      block: 'kill -HUP PID',
      play: { replace: (ground) => [['PID', String(ground.pid())]], after: (ground) => isReadAgain(ground, 1) },
    },
    {
      block: 'svc keyring promote',
      play: {
        replace: (ground) => [
          ['k20261120-7f3a', added],
          ['PID', String(ground.pid())],
        ],
        after: (ground) => isReadAgain(ground, 2),
      },
    },
    { block: 'svc encryption reseal --watch', play: {} },
    {
      block: 'svc encryption retire',
      play: {
        replace: () => [['k20261120', old]],
        after: (ground) => expect(current(ground)).toBe(added),
      },
    },
  ],
}

export const keyringRunbook: Story = {
  page: 'docs/runbooks/keyring.md',
  steps: [
    { block: 'svc encryption status', play: { codes: { 'svc doctor': 8 } } },
    // No value is under such a key here: the statements are run, and find nothing.
    { block: 'delete from idempotency_record', play: { shows: ['DELETE 0'] } },
  ],
}
