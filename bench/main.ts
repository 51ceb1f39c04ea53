/**
 * `npm run bench`: the cost of svc compared with the same work done bare, and with its promises.
 *
 *    npm run bench                   everything
 *    npm run bench -- floor start    only these parts
 *
 * Every comparison runs in turns in one run (rounds.ts), so its ratio is also valid on a busy
 * machine. Figures without a ratio (cold start) are valid only on an idle machine. Exits 1 when a
 * promise is missed.
 */
import { cpus, loadavg } from 'node:os'
import { boards } from './board.ts'
import { coldStart } from './cold-start.ts'
import { commandStart } from './command-start.ts'
import { deliveries } from './deliveries.ts'
import { encryption } from './encryption.ts'
import { erasing } from './erasing.ts'
import { exporting } from './exporting.ts'
import { floor } from './floor.ts'
import { layGround } from './ground.ts'
import { growth } from './growth.ts'
import { mixedLoad } from './load.ts'
import { notifying } from './notifying.ts'
import { overload } from './overload.ts'
import { people } from './people.ts'
import { provisioning } from './provisioning.ts'
import { pulling } from './pulling.ts'
import { purging } from './purging.ts'
import { querying } from './querying.ts'
import { restoring } from './restoring.ts'
import { retaining } from './retaining.ts'
import { ringing } from './ringing.ts'
import { scale } from './scale.ts'
import { searching } from './searching.ts'
import { sweeping } from './sweeping.ts'
import { drawn, type Line } from './table.ts'
import { trashing } from './trashing.ts'
import { uploading } from './uploading.ts'

const parts = {
  floor: onGround(floor),
  provisioning: onGround(provisioning),
  start: onGround(commandStart),
  cold: coldStart,
  export: onGround(exporting),
  purge: onGround(purging),
  sweeps: onGround(sweeping),
  restores: onGround(restoring),
  retention: onGround(retaining),
  erasure: onGround(erasing),
  board: boards,
  query: querying,
  search: searching,
  trash: onGround(trashing),
  media: onGround(uploading),
  load: onGround(mixedLoad),
  overload: onGround(overload),
  scale,
  growth,
  encryption,
  deliveries,
  pull: pulling,
  ringing: onGround(ringing),
  notifying: onGround(notifying),
  people,
} satisfies Record<string, () => Promise<Line[]>>

function onGround(part: (ground: Awaited<ReturnType<typeof layGround>>) => Promise<Line[]>) {
  return async () => {
    const ground = await layGround()
    try {
      return await part(ground)
    } finally {
      await ground.remove()
    }
  }
}

const asked = process.argv.slice(2)
const lines: Line[] = []
for (const [name, part] of Object.entries(parts)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  process.stderr.write(`${name} …\n`)
  lines.push(...(await part()))
}
const load = loadavg().map((average) => average.toFixed(1))
process.stdout.write(`${drawn(lines)}\n${cpus().length} processors, load ${load.join(' ')}, Node ${process.version}\n`)
process.exitCode = lines.every(({ isMet }) => isMet) ? 0 : 1
