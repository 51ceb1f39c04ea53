/** Times for people: in the local time zone, with its UTC offset, so that a copied line stays correct. */

const pad = (value: number) => String(value).padStart(2, '0')

/** `2026-11-20 12:32:46 +01:00`; `-` for null. */
export function moment(value: string | null): string {
  if (value === null) return '-'
  const at = new Date(value)
  if (Number.isNaN(at.getTime())) return value
  const offsetMinutes = -at.getTimezoneOffset()
  const away = Math.abs(offsetMinutes)
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`
  const time = `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`
  return `${day} ${time} ${offsetMinutes < 0 ? '-' : '+'}${pad(Math.trunc(away / 60))}:${pad(away % 60)}`
}

/** `2026-11-20`, for tables where the time of day does not matter. */
export const day = (value: string | null) => moment(value).slice(0, 10)
