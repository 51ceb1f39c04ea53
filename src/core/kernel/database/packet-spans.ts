/**
 * A span for each packet of a transaction: the statements that it sends in one turn of the event loop, from the first
 * of them to the last answer. Only while tracing is on (kernel/tracing).
 */
import { failureOf, type OpenSpan, openPacket } from '../tracing/tracing.ts'

export class PacketSpans {
  private open: Packet | undefined

  /** A statement was sent. */
  sent(answer: Promise<unknown>): void {
    this.open ??= this.begin()
    this.open?.add(answer)
  }

  private begin(): Packet | undefined {
    const span = openPacket()
    if (!span) return undefined
    setImmediate(() => {
      this.open = undefined
    })
    return new Packet(span)
  }
}

class Packet {
  private readonly span: OpenSpan
  private statements = 0
  private unanswered = 0
  private failure: string | undefined

  constructor(span: OpenSpan) {
    this.span = span
  }

  add(answer: Promise<unknown>): void {
    this.statements += 1
    this.unanswered += 1
    answer.then(
      () => this.answered(),
      (error: unknown) => {
        this.failure ??= failureOf(error)
        this.answered()
      },
    )
  }

  private answered(): void {
    this.unanswered -= 1
    if (this.unanswered === 0) this.span.end({ 'svc.statements': this.statements }, this.failure)
  }
}
