/**
 * The flood of the overload bench, in its own process: sends the mix at each rate that it is told, or for so many clients, and
 * answers what became of it. Takes its settings as JSON on the command line.
 */
import type { Boards } from './board-filler.ts'
import { openMix } from './load-mix.ts'
import { type Outcome, sendAtRate, sendInTurn } from './open-loop.ts'

export interface FloodSettings {
  readonly address: string
  readonly token: string
  readonly boards: Boards
}

/** So many a second, or so many clients that wait for their answers. */
export type FloodOrder = ({ readonly rate: number } | { readonly clients: number }) & { readonly seconds: number }

/** So many that no request waits here for a connection. */
const connections = 300

const { address, token, boards } = JSON.parse(process.argv[2] ?? '') as FloodSettings
const mix = openMix(address, { token }, boards, connections)
process.on('message', async (order: FloodOrder) => {
  const { seconds } = order
  const outcome: Outcome = await ('rate' in order
    ? sendAtRate(mix, order.rate, seconds)
    : sendInTurn(mix, order.clients, seconds))
  process.send?.(outcome)
})
process.once('disconnect', () => void mix.close())
