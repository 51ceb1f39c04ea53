import { Args, Flags } from '@oclif/core'
import type { AttemptError } from '../../../core/contract/webhooks/operations.ts'
import { deliveryOperations } from '../../../core/contract/webhooks/operator-view.ts'
import { CallerCommand } from '../../base-command.ts'
import type { Caller } from '../../call/caller.ts'
import { findDelivery } from '../../find/webhooks.ts'
import { attemptLine, meaningOf, nextOf, traceLines } from '../../render/delivery.ts'
import { folded } from '../../render/details.ts'
import { printable } from '../../render/printable.ts'

export default class DeliveriesWhy extends CallerCommand {
  static override summary = 'Explain what happened to a delivery, and what happens next'
  static override description =
    'With --operator, shows the full trace of a delivery of any workspace, with internal addresses, and never its content.'
  static override examples = [
    '<%= config.bin %> deliveries why 0199c0de-0000-7000-8000-000000000042',
    '<%= config.bin %> deliveries why 0199c0de-0000-7000-8000-000000000042 --operator',
  ]
  static override args = {
    delivery: Args.string({ ignoreStdin: true, required: true, description: "the delivery's id" }),
  }
  static override flags = {
    webhook: Flags.string({
      summary: 'The webhook of the delivery; default: search all webhooks.',
      helpValue: 'WEBHOOK',
      exclusive: ['operator'],
    }),
    operator: Flags.boolean({ summary: 'Act as an operator of the installation.' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(DeliveriesWhy)
    const caller = await this.open(flags)
    const found = flags.operator
      ? await recorded(caller, args.delivery)
      : await own(caller, args.delivery, flags.webhook)
    await this.show(() => folded(explanation(found)))
    return found.answer
  }
}

async function own(caller: Caller, id: string, named: string | undefined) {
  const { webhook, delivery } = await findDelivery(caller, id, named)
  return { answer: delivery, delivery, state: webhook.state, target: webhook.target_url }
}

async function recorded(caller: Caller, deliveryId: string) {
  const delivery = await caller.call(deliveryOperations.getRecordedDelivery, { deliveryId })
  const target = `${delivery.host ?? 'a host that was removed'} (workspace ${delivery.slug})`
  return { answer: delivery, delivery, state: delivery.webhook_state, target }
}

type Found = Awaited<ReturnType<typeof own>> | Awaited<ReturnType<typeof recorded>>

function explanation({ delivery, state, target }: Found): string {
  const last = delivery.attempts.at(-1)
  const sent =
    delivery.cause === 'SEND'
      ? 'Sent on demand'
      : delivery.cause === 'REPLAY'
        ? 'Replayed'
        : 'Sent when the event happened'
  return [
    printable(`${delivery.event_type} ${delivery.event_id} to ${target}: ${delivery.status}.`),
    `${sent}; ${delivery.attempt === 0 ? 'no attempt has started' : `${delivery.attempt} attempt(s) started`}.`,
    '',
    ...delivery.attempts.flatMap((attempt) => [attemptLine(attempt), ...traceLines(attempt.trace)]),
    ...(last?.error ? ['', `Why: ${meaningOf(last.error as AttemptError)}`] : []),
    '',
    `Next: ${nextOf(delivery, state)}`,
  ].join('\n')
}
