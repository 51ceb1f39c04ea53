/** What `status` reads of a daemon's metrics, in Prometheus' text form. */

/** Samples of one metric: a value for each set of labels. */
type Samples = readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[]

export type Metrics = ReadonlyMap<string, Samples>

const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([^ ]+)(?: [0-9]+)?$/
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g

/** Lines that are no samples are left out. */
export function readMetrics(text: string): Metrics {
  const metrics = new Map<string, { labels: Record<string, string>; value: number }[]>()
  for (const line of text.split('\n')) {
    const [, name, labels = '', number = ''] = sample.exec(line) ?? []
    const value = Number(number)
    if (name === undefined || Number.isNaN(value)) continue
    const samples = metrics.get(name) ?? []
    samples.push({
      labels: Object.fromEntries([...labels.matchAll(label)].map(([, key, text = '']) => [key, text])),
      value,
    })
    metrics.set(name, samples)
  }
  return metrics
}

/** The sum of the samples; undefined if there is none. */
export function sumOf(
  metrics: Metrics,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = metrics
    .get(name)
    ?.filter((one) => Object.entries(labels).every(([key, text]) => one.labels[key] === text))
  return wanted?.reduce((sum, { value }) => sum + value, 0)
}
