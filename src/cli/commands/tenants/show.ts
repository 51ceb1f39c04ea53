import { Args } from '@oclif/core'
import { CallerCommand } from '../../base-command.ts'
import { findWorkspace } from '../../find/workspaces.ts'
import { workspaceDetails } from '../../render/workspace.ts'

export default class TenantsShow extends CallerCommand {
  static override summary = 'Show one workspace'
  static override examples = ['<%= config.bin %> tenants show acme']
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(TenantsShow)
    const tenant = await findWorkspace(await this.open(flags), args.workspace)
    this.log(workspaceDetails(tenant))
    return tenant
  }
}
