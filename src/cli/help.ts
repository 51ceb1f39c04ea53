/**
 * `--help` and `svc help`: oclif's, with a usage of one line, and with pages of our own about what concerns every command.
 * docs/decisions/0293.
 */
import { CommandHelp, Help, type Interfaces } from '@oclif/core'
import { type HelpPage, helpPages, pageText } from './help-pages.ts'

/** `svc tenants list [FLAGS]`: what must be given is named, what may be is in the list below. */
class ShortUsage extends CommandHelp {
  protected override defaultUsage(): string {
    const flags = Object.values(this.command.flags).filter(({ hidden }) => !hidden)
    const required = flags.flatMap((flag) =>
      flag.required ? [`--${flag.name}${flag.type === 'option' ? ` ${flag.helpValue ?? 'VALUE'}` : ''}`] : [],
    )
    return [super.defaultUsage(), ...required, flags.length > required.length ? '[FLAGS]' : '']
      .filter(Boolean)
      .join(' ')
  }
}

export default class SvcHelp extends Help {
  protected override CommandHelpClass = ShortUsage

  constructor(config: Interfaces.Config, opts: Partial<Interfaces.HelpOptions> = {}) {
    super(config, { ...opts, docopts: false })
  }

  override async showHelp(argv: string[]): Promise<void> {
    const [subject, ...more] = argv.filter((word) => !word.startsWith('-'))
    const page = more.length === 0 && argv.length === 1 ? helpPages.find((name) => name === subject) : undefined
    if (page === undefined || page === 'config') await super.showHelp(argv)
    if (page !== undefined) this.log(await pageText(page, this.opts.maxWidth))
  }

  /** oclif breaks the lines of every part but the first. */
  override formatRoot(): string {
    const [says = '', ...parts] = super.formatRoot().split('\n\n')
    return [this.wrap(says), ...parts].join('\n\n')
  }

  protected override async showRootHelp(): Promise<void> {
    await super.showRootHelp()
    const says: Readonly<Record<HelpPage, string>> = {
      config: 'Where values are found',
      environment: 'Every variable',
      'exit-codes': 'How a command ends',
    }
    const width = Math.max(...helpPages.map((name) => name.length))
    this.log(
      this.section('HELP PAGES', helpPages.map((name) => `svc help ${name.padEnd(width)}  ${says[name]}`).join('\n')),
    )
    this.log('\n`svc open` opens the API reference.\nGuides and runbooks: the folder docs of the project.')
  }
}
