import { Args, Flags } from '@oclif/core'
import { type AdminTenant, tenantOperations } from '../../../core/contract/tenants/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'
import { findWorkspace } from '../../find/workspaces.ts'
import { workspaceDetails } from '../../render/workspace.ts'

export default class TenantsUpdate extends CallerCommand {
  static override summary = 'Change the name, the locale or the time zone of a workspace'
  static override description =
    'Without its flag a value stays as it is; the slug never changes. A new locale changes the language of mails, and search is indexed anew if it has another dictionary. A new time zone counts for dates that are set from now on.'
  static override examples = [
    '<%= config.bin %> tenants update acme --display-name "Acme Ltd"',
    '<%= config.bin %> tenants update acme --locale de-CH --time-zone Europe/Zurich',
  ]
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }
  static override flags = {
    'display-name': Flags.string({ summary: 'The name that people see.' }),
    locale: Flags.string({ summary: 'The default locale, as BCP 47.' }),
    'time-zone': Flags.string({ summary: 'The default time zone, as in the IANA database.' }),
  }

  async run(): Promise<AdminTenant> {
    const { args, flags } = await this.parse(TenantsUpdate)
    const body = {
      ...(flags['display-name'] === undefined ? {} : { display_name: flags['display-name'] }),
      ...(flags.locale === undefined ? {} : { default_locale: flags.locale }),
      ...(flags['time-zone'] === undefined ? {} : { default_time_zone: flags['time-zone'] }),
    }
    if (Object.keys(body).length === 0)
      throw new Failure('usage', 'Nothing is given to change.', 'Name --display-name, --locale or --time-zone.')
    const caller = await this.open(flags)
    const before = await findWorkspace(caller, args.workspace)
    const tenant = await caller.call(tenantOperations.updateTenant, {
      tenantId: before.id,
      ifMatch: `"${before.version}"`,
      body,
    })
    this.log(workspaceDetails(tenant))
    if (tenant.version === before.version) this.tell('Nothing changed: the workspace already had these values.')
    return tenant
  }
}
