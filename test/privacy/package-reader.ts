/** Fetches packages of personal data, and takes them apart with nothing of ours. */
import { request } from 'node:http'
import { inflateRawSync } from 'node:zlib'
import { type Person, plantProof } from '../kit/people.ts'
import type { PrivacyHouse } from './privacy-kit.ts'

export interface Fetched {
  readonly status: number
  readonly bytes: Buffer
}

/** The answer's bytes: the kit reads text. */
export async function fetchPackage(
  { two }: Pick<PrivacyHouse, 'two'>,
  by: Person,
  id: string,
  range?: string,
): Promise<Fetched> {
  const proof = await plantProof(two.daemon, by)
  return new Promise((done, failed) => {
    const headers = {
      authorization: `Bearer ${by.token}`,
      'x-service-step-up': proof,
      ...(range === undefined ? {} : { range }),
    }
    const path = `/api/v1/privacy/requests/${id}/package`
    request({ port: two.daemon.port, host: '127.0.0.1', path, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => done({ status: answer.statusCode ?? 0, bytes: Buffer.concat(chunks) }))
    })
      .on('error', failed)
      .end()
  })
}

/** The entries of a zip, by its directory. */
export function entriesOf(zip: Buffer): Map<string, Buffer> {
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  const entries = new Map<string, Buffer>()
  let at = zip.readUInt32LE(end + 16)
  for (let n = zip.readUInt16LE(end + 10); n > 0; n -= 1) {
    const [method, stored, name, extra] = [10, 20, 28, 30].map((field) =>
      field === 20 ? zip.readUInt32LE(at + field) : zip.readUInt16LE(at + field),
    ) as [number, number, number, number]
    const place = zip.readUInt32LE(at + 42)
    const data = place + 30 + zip.readUInt16LE(place + 26) + zip.readUInt16LE(place + 28)
    const bytes = zip.subarray(data, data + stored)
    entries.set(zip.toString('utf8', at + 46, at + 46 + name), method === 8 ? inflateRawSync(bytes) : bytes)
    at += 46 + name + extra
  }
  return entries
}
