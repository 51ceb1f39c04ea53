/** Pages of `svc help` about what concerns every command. They are made of the declarations, so that they stay true. */
import { type Ending, exitCodes } from './failure.ts'

export const helpPages = ['config', 'environment', 'exit-codes'] as const
export type HelpPage = (typeof helpPages)[number]

const endings: Readonly<Record<Ending, string>> = {
  done: 'done; also where nothing had to be done',
  failed: 'failed; or a confirmation was refused',
  usage: 'the command line, the configuration or a value is wrong',
  notFound: 'what was named is not there',
  notAllowed: 'not allowed, or a step-up is needed',
  conflict: 'a conflict with the present state, or a version that has changed',
  rateLimited: 'too many calls; wait and repeat',
  unreached: 'the server or the database was not reached',
  findings: 'finished, and found something that needs attention',
  interrupted: 'Ctrl-C',
}

const ofCommands: readonly (readonly [name: string, says: string])[] = [
  ['SVC_API_URL', 'The URL of the daemon, instead of a profile.'],
  ['SVC_TOKEN', 'The token for that daemon. Needs SVC_API_URL.'],
  ['NO_COLOR', 'Print without colours, as with --no-color.'],
  ['SVC_LOG_LEVEL', 'trace: commands print where an error arose.'],
  ['XDG_CONFIG_HOME', 'Holds svc/profiles; absent: ~/.config.'],
  ['XDG_CACHE_HOME', 'Holds compiled code; absent: ~/.cache.'],
]

const configText = `A command finds its installation in this order; the first that is there counts:

  1. --recovery: the database that the variables name, or the embedded one below SVC_DATA_DIR
  2. --api-url and --profile
  3. SVC_API_URL and SVC_TOKEN
  4. the profile of this folder or of the nearest folder above; \`svc login\` makes it, \`svc profiles list\` shows all
  5. the embedded installation in .svc, directly

A value comes from the environment, else from .env in the working folder, else it is the default.
\`svc config show\` says where each comes from, \`svc config validate\` checks all, \`svc help environment\` lists them.
What the installation decides for its workspaces is not configuration: \`svc settings show\`.`

/** The page as text of at most `width` columns. */
export async function pageText(page: HelpPage, width: number): Promise<string> {
  if (page === 'config') return configText
  if (page === 'exit-codes')
    return rows(Object.entries(endings).map(([ending, says]) => [String(exitCodes[ending as Ending]), says]))
  const { environment } = await import('../core/kernel/config/config.ts')
  const ofDaemon = Object.entries(environment.shape).map(
    ([name, schema]) => [name, `${schema.description ?? ''}.`] as const,
  )
  return ['OF COMMANDS', '', blocks(ofCommands, width), '', 'OF THE DAEMON', '', blocks(ofDaemon, width)].join('\n')
}

type Row = readonly [name: string, says: string]

function rows(list: readonly Row[]): string {
  const wide = Math.max(...list.map(([name]) => name.length))
  return list.map(([name, says]) => `${name.padStart(wide)}  ${says}`).join('\n')
}

/** The names are long, so each has a line of its own. */
const blocks = (list: readonly Row[], width: number) =>
  list.map(([name, says]) => `  ${name}\n${wrapped(says, Math.min(width, 100) - 6)}`).join('\n')

function wrapped(text: string, width: number): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + word.length >= width) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.map((line) => `      ${line}`).join('\n')
}
