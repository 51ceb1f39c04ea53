import { sessionOperations } from '../../../core/contract/auth/operations.ts'
import type { Answer } from '../../../core/contract/operation.ts'
import { CallerCommand } from '../../base-command.ts'
import { pagesOf } from '../../call/caller.ts'
import { moment } from '../../render/moment.ts'
import { type Column, table } from '../../render/table.ts'

type Session = Answer<typeof sessionOperations.listSessions>['data'][number]

const deviceNames: Readonly<Record<NonNullable<Session['device_family']>, string>> = {
  WINDOWS: 'Windows',
  MAC: 'Mac',
  LINUX: 'Linux',
  CHROMEOS: 'ChromeOS',
  IPHONE: 'iPhone',
  IPAD: 'iPad',
  ANDROID: 'Android',
  COMMAND_LINE: 'svc',
  OTHER: 'other',
}
const wayNames: Readonly<Record<NonNullable<Session['way']>, string>> = {
  PASSWORD: 'password',
  PROVIDER: 'provider',
  INVITATION: 'invitation',
  SET_UP: 'set-up',
}

const columns: readonly Column<Session>[] = [
  { head: '', cell: ({ is_current }) => (is_current ? 'this one' : ''), whole: true },
  { head: 'DEVICE', cell: ({ device_family: family }) => (family === null ? 'unknown' : deviceNames[family]) },
  { head: 'WAY', cell: ({ way }) => (way === null ? '' : wayNames[way]) },
  { head: 'SIGNED IN', cell: ({ created_at }) => moment(created_at) },
  { head: 'LAST USED', cell: ({ last_used_at }) => moment(last_used_at) },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]

export default class SessionsList extends CallerCommand {
  static override summary = 'List where your account is signed in'
  static override description = '`sessions end` ends one of them, or all others.'
  static override examples = ['<%= config.bin %> sessions list']

  async run(): Promise<unknown> {
    const { flags } = await this.parse(SessionsList)
    const caller = await this.open(flags)
    const data: Session[] = []
    for await (const page of pagesOf(caller, sessionOperations.listSessions, { size: 200 })) data.push(...page.data)
    await this.show(() => table(data, columns, 'Your account is signed in nowhere; this call has an access token.'))
    return { data, next_cursor: null }
  }
}
