/** A collector of traces on loopback: an HTTP server that takes OTLP in JSON and keeps the spans. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface CollectedSpan {
  readonly name: string
  readonly kind: 'INTERNAL' | 'SERVER' | 'CLIENT' | 'PRODUCER' | 'CONSUMER'
  readonly traceId: string
  readonly spanId: string
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly isError: boolean
  readonly durationMs: number
}

export interface TraceCollector {
  readonly url: string
  readonly spans: CollectedSpan[]
  /** What was sent, whole. */
  readonly bodies: string[]
  /** The attributes of who sent last. */
  resource: Readonly<Record<string, unknown>>
  ofTrace(traceId: string): CollectedSpan[]
  close(): Promise<void>
}

interface Value {
  readonly stringValue?: string
  readonly intValue?: string | number
  readonly boolValue?: boolean
  readonly doubleValue?: number
}
type Attributes = readonly { readonly key: string; readonly value: Value }[]

interface Otlp {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes }
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
}

interface OtlpSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: Attributes
  readonly status: { readonly code?: number }
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
}

const kinds = ['INTERNAL', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'] as const

export async function traceCollector(): Promise<TraceCollector> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.method !== 'POST' || request.url !== '/v1/traces') return response.writeHead(404).end()
      take(Buffer.concat(chunks).toString('utf8'))
      return response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  const take = (body: string) => {
    collector.bodies.push(body)
    for (const { resource, scopeSpans } of (JSON.parse(body) as Otlp).resourceSpans) {
      collector.resource = read(resource.attributes)
      for (const { spans } of scopeSpans) collector.spans.push(...spans.map(readSpan))
    }
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const collector: TraceCollector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    bodies: [],
    resource: {},
    ofTrace: (traceId) => collector.spans.filter((span) => span.traceId === traceId),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return collector
}

const readSpan = (span: OtlpSpan): CollectedSpan => ({
  name: span.name,
  kind: kinds[span.kind] ?? 'INTERNAL',
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId ?? '',
  attributes: read(span.attributes),
  isError: span.status.code === 2,
  durationMs: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
})

const read = (attributes: Attributes) =>
  Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, boolValue, doubleValue } }) => [
      key,
      stringValue ?? boolValue ?? Number(intValue ?? doubleValue),
    ]),
  )
