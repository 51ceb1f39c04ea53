/** Numbers as a line of small bars, and sizes as people read them. */

const bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/** A bar for each number, the tallest for the largest. A number above 0 never gets the bar of 0. */
export function sparkline(values: readonly number[]): string {
  const largest = Math.max(...values, 0)
  return values
    .map((value) => (value <= 0 ? bars[0] : bars[Math.max(1, Math.round((value / largest) * (bars.length - 1)))]))
    .join('')
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** e.g. `1.5 MiB`: two digits and the unit, `0 B` for zero. */
export function sizeInWords(bytes: number | bigint): string {
  let size = Number(bytes)
  let unit = 0
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024
    unit += 1
  }
  return `${unit === 0 || size >= 10 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`
}
