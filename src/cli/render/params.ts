/** `reason=moved`, `event_types=work.item.created, work.item.moved`: what an entry says besides who did what. */
export const paramsInWords = (params: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(params).map(([name, value]) => `${name}=${inWords(value)}`)

/** A list has blanks between its values, where a line may end. */
const inWords = (value: unknown): string => {
  if (typeof value === 'string') return value
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
    ? value.join(', ')
    : JSON.stringify(value)
}
