/** A file in a table or alone. */
import type { Media } from '../../core/contract/media/operations.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'
import type { Column } from './table.ts'

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `12 B`, `3.4 MiB`. */
export function sizeInWords(bytes: number | bigint): string {
  let value = Number(bytes)
  let at = 0
  for (; value >= 1024 && at < units.length - 1; at += 1) value /= 1024
  return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`
}

export const mediaColumns: readonly Column<Media>[] = [
  { head: 'FILE', cell: ({ filename }) => filename },
  { head: 'SIZE', cell: ({ size_bytes }) => sizeInWords(size_bytes), whole: true },
  { head: 'TYPE', cell: ({ content_type }) => content_type ?? '', whole: true },
  { head: 'STATE', cell: ({ state }) => state, whole: true },
  { head: 'CREATED', cell: ({ created_at }) => moment(created_at), whole: true },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]

export const mediaDetails = (media: Media): string =>
  details([
    ['file', media.filename],
    ['size', `${sizeInWords(media.size_bytes)} (${media.size_bytes} bytes)`],
    ['type', media.content_type ?? ''],
    ...(media.width === null ? [] : [['picture', `${media.width} × ${media.height} pixels`] as const]),
    ['state', media.state],
    ['sha256', media.sha256 ?? ''],
    ['id', media.id],
  ])

/** That a backup of the installation lacks what is in a bucket, and in which. */
export const notArchived = ({
  bucket,
  endpoint,
  prefix,
}: {
  bucket: string
  endpoint: string
  prefix: string
}): string =>
  `It does not hold the files in the bucket ${bucket} of ${endpoint}${prefix === '' ? '' : ` (below ${prefix})`}.`
