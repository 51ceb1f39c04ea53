/** What the benchmarks use of autocannon, which brings no types. */
declare module 'autocannon' {
  interface Options {
    readonly url: string
    readonly method?: 'GET' | 'POST'
    readonly body?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly connections: number
    /** In seconds. */
    readonly duration: number
    /** Each request of a connection, changed before it is sent. */
    readonly requests?: readonly { readonly setupRequest: (request: object) => object }[]
  }
  interface Result {
    readonly requests: { readonly average: number }
    /** In whole milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number; readonly totalCount: number }
    readonly non2xx: number
    readonly statusCodeStats: Readonly<Record<string, unknown>>
    readonly errors: number
  }
  export default function autocannon(options: Options): Promise<Result>
}
