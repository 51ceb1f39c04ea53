import { readFileSync } from 'node:fs'
import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'
import { keyIn, type Verdict, verdictOn } from '../../follow/signature-check.ts'
import { secretOrAsk } from '../../input/secret-input.ts'
import { unreadable } from '../../input/unreadable.ts'

const explained: Readonly<Record<Extract<Verdict, { valid: false }>['reason'], string>> = {
  'timestamp.malformed': 'webhook-timestamp is not a number of seconds.',
  'timestamp.too_old': 'The signature matches, but it is too old: the request was replayed, or a clock is wrong.',
  'timestamp.in_future': 'The signature matches, but it is from the future: a clock is wrong.',
  'signature.malformed': 'webhook-signature has no signature of the form v1,BASE64.',
  'signature.differs':
    'No signature matches. Either the secret is a different one, or the id, timestamp or body differ from those that were sent. Verify the raw bytes of the body, before anything parses it.',
}

export default class WebhooksVerify extends BaseCommand {
  static override summary = 'Verify the signature of a received delivery'
  static override description = 'Works offline. Asks for the secret, or reads it from a file or standard input.'
  static override examples = [
    '<%= config.bin %> webhooks verify body.json --id 0199c0de-0000-7000-8000-000000000099 --timestamp 1788253200 --signature v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4= --secret-file svc.secret',
  ]
  static override args = {
    file: Args.string({
      ignoreStdin: true,
      required: true,
      description: 'the file with the exact bytes of the received body',
    }),
  }
  static override flags = {
    id: Flags.string({ summary: 'The header webhook-id.', required: true }),
    timestamp: Flags.string({ summary: 'The header webhook-timestamp.', helpValue: 'SECONDS', required: true }),
    signature: Flags.string({ summary: 'The header webhook-signature.', helpValue: 'V1,BASE64', required: true }),
    'secret-stdin': Flags.boolean({ summary: 'Read the secret from standard input.', exclusive: ['secret-file'] }),
    'secret-file': Flags.string({ summary: 'Read the secret from a file of mode 0600.', helpValue: 'FILE' }),
    'tolerance-seconds': Flags.integer({
      summary: 'The largest allowed difference between the timestamp and now, in seconds.',
      min: 1,
      default: 300,
      exclusive: ['any-age'],
    }),
    'any-age': Flags.boolean({ summary: 'Accept any timestamp, for example of a delivery of yesterday.' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(WebhooksVerify)
    const body = readBody(args.file)
    const source = { stdin: flags['secret-stdin'], file: flags['secret-file'] }
    const key = keyIn(await secretOrAsk(source, 'secret', 'Signing secret (whsec_…):'))
    const { id, timestamp, signature } = flags
    const verdict = verdictOn(
      { id, timestamp, signature, body },
      key,
      flags['any-age'] ? undefined : flags['tolerance-seconds'],
    )
    if (!verdict.valid) throw new Failure('failed', `Not verified (${verdict.reason}).`, explained[verdict.reason])
    await this.show(() => `Valid: signed ${verdict.age_seconds} s ago with this secret.`)
    return verdict
  }
}

function readBody(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw unreadable(`the file ${file}`, error)
  }
}
