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
  unreachable: 'nothing answers there',
  refused: 'the egress guard stands in the way; SVC_EGRESS_ALLOW releases a host',
  redirected: 'it points elsewhere; name that place as the base URL',
  credentials: 'the key is not taken',
  missing: 'there is no such path, or no model of that name',
  rate_limited: 'the key has used up what it may',
  timeout: 'no answer in time',
  too_large: 'the answer is longer than any answer to this question',
  malformed: 'it speaks another API',
  unconfigured: 'no model is named',
  failed: 'it failed without saying why',
}

export default class AiProvidersTest extends CallerCommand {
  static override summary = 'Ask an offered AI model something small, and say what fails'
  static override description = 'Exit code 8 when a step fails. The tokens count against no workspace.'
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
