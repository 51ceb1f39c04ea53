/** What a file is, found while its bytes go by. Spec: items 4; docs/decisions/0514. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { contentTypeOf, signatureBytes, TextCheck } from './file-kind.ts'

export const seenSchema = z.object({ sha256: z.string(), content_type: z.string() })
export type Seen = z.infer<typeof seenSchema>

/** Is given all bytes of a file in their order. */
export class Look {
  private readonly hash = createHash('sha256')
  private readonly text = new TextCheck()
  private readonly head = Buffer.allocUnsafeSlow(signatureBytes)
  private headBytes = 0

  /** The bytes are the caller's again when this returns. */
  add(chunk: Buffer): void {
    this.hash.update(chunk)
    this.text.add(chunk)
    this.headBytes += chunk.copy(this.head, this.headBytes)
  }

  async end(): Promise<Seen> {
    const type = await contentTypeOf(this.head.subarray(0, this.headBytes), this.text.end())
    return { sha256: this.hash.digest('hex'), content_type: type }
  }
}
