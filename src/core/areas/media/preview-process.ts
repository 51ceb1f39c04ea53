/**
 * The process that decodes one picture: standard input has its bytes, standard output gets a line of JSON (`Told`) and the
 * previews behind it. It is a program of its own because a decoder is given what strangers made: what it breaks is this process,
 * which has no credentials and ends behind one picture (previews.ts). Spec: items 4; 10, 8; docs/decisions/0515.
 */
import { buffer } from 'node:stream/consumers'
import sharp from 'sharp'

/** What the line says: the size of the picture as it is seen, and how long the previews are, in the order of their edges. */
export interface Told {
  readonly width: number
  readonly height: number
  readonly bytes: readonly number[]
}

const decoders = ['Jpeg', 'Png', 'Webp', 'Nsgif'].map((name) => `VipsForeignLoad${name}`)
const mostPixels = 50_000_000

sharp.cache(false)
sharp.concurrency(1)
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: decoders })

const open = (picture: Buffer) => sharp(picture, { limitInputPixels: mostPixels, sequentialRead: true }).autoOrient()

const picture = await buffer(process.stdin)
const { autoOrient: size } = await open(picture).metadata()
const previews: Buffer[] = []
// What a camera notes of place and time does not go along: only pixels and their colours do.
for (const edge of process.argv.slice(2).map(Number))
  previews.push(
    await open(picture)
      .resize({ width: edge, height: edge, fit: 'inside', withoutEnlargement: true })
      .webp()
      .toBuffer(),
  )
const told: Told = { ...size, bytes: previews.map(({ byteLength }) => byteLength) }
process.stdout.write(Buffer.concat([Buffer.from(`${JSON.stringify(told)}\n`), ...previews]))
