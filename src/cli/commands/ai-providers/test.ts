import { Args } from '@oclif/core'
import { type AiProbeStep, aiProviderOperations } from '../../../core/contract/ai/offered.ts'
import { CallerCommand } from '../../base-command.ts'
import { exitCodes } from '../../failure.ts'
import { findModel } from '../../find/ai-providers.ts'
import { withProgress } from '../../render/progress.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<AiProbeStep>[] = [
  { head: 'STEP', cell: (step) => step.name, whole: true },
  { head: 'RESULT', cell: (step) => (step.ok ? 'ok' : 'failed'), whole: true },
  { head: 'WHY', cell: (step) => (step.error === null ? '' : `${step.error}: ${meanings[step.error] ?? ''}`) },
]

const meanings: Readonly<Record<string, string>> = {
  unreachable: 'nothing answers at this address',
  refused: 'the egress guard refuses this address; SVC_EGRESS_ALLOW allows a host',
  redirected: 'it redirects to another address; use that address as the base URL',
  credentials: 'the API refuses the key',
  missing: 'the path or the model does not exist there',
  rate_limited: 'the key has used up its limit',
  timeout: 'no answer in time',
  too_large: 'the answer is longer than the test question can need',
  malformed: 'the answer does not have the format of this API',
  unconfigured: 'no model is configured',
  failed: 'it failed and gave no reason',
}

export default class AiProvidersTest extends CallerCommand {
  static override summary = 'Send a small question to an offered AI model, and report which step fails'
  static override description = 'Exits 8 when a step fails. The tokens are counted for no workspace.'
  static override examples = ['<%= config.bin %> ai-providers test "Vendor, small"']
  static override args = {
    model: Args.string({ ignoreStdin: true, required: true, description: "the model's name or id" }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(AiProvidersTest)
    const caller = await this.open(flags)
    const model = await findModel(caller, args.model)
    const answer = await withProgress(`Asking ${model.display_name}`, () =>
      caller.call(aiProviderOperations.testAiProvider, { providerId: model.id }),
    )
    this.log(await table(answer.steps, columns, ''))
    if (!answer.ok) process.exitCode = exitCodes.findings
    return answer
  }
}
