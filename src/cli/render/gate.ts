/** The installation's gate, for people. */
import type { GateState } from '../../core/areas/recovery/gate.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'

const reasons = {
  BEGUN: 'an operator began a recovery',
  REWOUND: 'a daemon found that the database lacks changes that it had acknowledged',
}

export const gateDetails = (state: GateState, more: readonly (readonly [string, string])[] = []) =>
  details([
    ['gate', state.gated_at === null ? 'open' : `closed since ${moment(state.gated_at)}`],
    ['because', state.gate_reason === null ? null : reasons[state.gate_reason]],
    ['recovery point', state.recovery_point === null ? null : moment(state.recovery_point)],
    ['last admitted', state.admitted_at === null ? null : moment(state.admitted_at)],
    ['epoch', `${state.epoch_number} (${state.epoch})`],
    ...more,
  ])
