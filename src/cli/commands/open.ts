import { spawn } from 'node:child_process'
import { Args, Flags } from '@oclif/core'
import { loadEnvironment } from '../../core/kernel/values/environment.ts'
import { BaseCommand, targetFlags } from '../base-command.ts'
import { chosenProfile } from '../call/caller-choice.ts'
import { Failure } from '../failure.ts'
import { checkApiUrl } from '../profile/profiles.ts'

const pages = {
  docs: '/docs',
  openapi: '/api/v1/openapi.json',
  ready: '/readyz',
} as const

export default class Open extends BaseCommand {
  static override summary = 'Open a page of the installation in the browser'
  static override description =
    'docs: the API reference. openapi: the OpenAPI document. ready: whether the daemon can serve. The address is printed, too; without a display, or with --print, it is only printed.'
  static override examples = ['<%= config.bin %> open', '<%= config.bin %> open ready --print']
  static override args = {
    page: Args.string({
      ignoreStdin: true,
      options: Object.keys(pages),
      default: 'docs',
      description: 'the page',
    }),
  }
  static override flags = {
    ...targetFlags,
    print: Flags.boolean({ summary: 'Print the address and open nothing.' }),
  }

  async run(): Promise<{ url: string }> {
    const { args, flags } = await this.parse(Open)
    const named = flags['api-url'] ?? (flags.profile === undefined ? loadEnvironment()['SVC_API_URL'] : undefined)
    const apiUrl = named || chosenProfile(flags)?.api_url
    if (apiUrl === undefined)
      throw new Failure(
        'usage',
        'This folder has no profile, and SVC_API_URL is not set.',
        '`svc login --api-url URL` makes a profile; --api-url names another installation.',
      )
    const url = `${checkApiUrl(apiUrl)}${pages[args.page as keyof typeof pages]}`
    this.log(url)
    if (!flags.print && !this.jsonEnabled() && hasDisplay()) browse(url)
    return { url }
  }
}

const opener = { darwin: 'open', win32: 'explorer' } as Readonly<Record<string, string>>

/** Over SSH and in a container there is no browser to open. */
const hasDisplay = () =>
  process.stdout.isTTY &&
  (process.platform in opener || Boolean(process.env['DISPLAY'] ?? process.env['WAYLAND_DISPLAY']))

/** The address is on the screen already, so a browser that does not start is no failure. */
function browse(url: string): void {
  const child = spawn(opener[process.platform] ?? 'xdg-open', [url], { detached: true, stdio: 'ignore' })
  child.on('error', () => {})
  child.unref()
}
