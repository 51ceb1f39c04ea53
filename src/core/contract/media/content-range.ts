/** The Content-Range of a part of a file (RFC 9110, 14.4): its first and last byte, and the size of the file. */

export const contentRangePattern = '^bytes [0-9]{1,15}-[0-9]{1,15}/[0-9]{1,15}$'

export interface ContentRange {
  readonly first: number
  readonly last: number
  readonly sizeBytes: number
}

/** Undefined for a text that is none. */
export function readContentRange(header: string): ContentRange | undefined {
  if (!new RegExp(contentRangePattern).test(header)) return undefined
  const [first = 0, last = 0, sizeBytes = 0] = (header.match(/[0-9]+/g) ?? []).map(Number)
  return last < first || last >= sizeBytes ? undefined : { first, last, sizeBytes }
}
