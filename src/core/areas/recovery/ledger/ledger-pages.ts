/**
 * Pages: the ledger is cut into pages for its copies, so that one more line costs one small
 * file, independent of the ledger's length.
 *
 *    obligations/<installation id>/<lineage>/<first>-<last>-<mac>/lines.jsonl
 *
 * A page has up to 256 lines and always begins with line 1, 257, 513 … Every copy of a page
 * has a different name, so no copy is overwritten. If a target carries out a request late, an
 * older page cannot replace a newer one. A target that forbids changes can be used too.
 * `lineage` is the beginning of the mac of the ledger's first line, `mac` that of the page's
 * last line.
 *
 * Elsewhere: writing pages (ledger-copies.ts), reading pages (ledger-pull.ts).
 */
import { type FileHandle, open } from 'node:fs/promises'
import { ifThere } from '../../../kernel/values/if-there.ts'

const pageLines = 256

export interface PageName {
  readonly lineage: string
  readonly first: number
  readonly last: number
  /** The beginning of the last line's mac. */
  readonly mac: string
}

export interface Page extends PageName {
  readonly text: string
  /** The macs of its lines, in their order. */
  readonly macs: readonly string[]
  /** Where the page begins and ends in the ledger's file, in bytes. */
  readonly from: number
  readonly to: number
}

const macDigits = 16
const seqDigits = 12
const lineShape = /^\{"v":1,"seq":(\d{1,15}),.*"mac":"([0-9a-f]{64})"\}$/

export const ledgersFolder = (installationId: string) => `obligations/${installationId}`

const padded = (seq: number) => String(seq).padStart(seqDigits, '0')

/** The folder of one copy of a page, below the installation's. */
export const folderOf = ({ lineage, first, last, mac }: PageName) =>
  `${lineage}/${padded(first)}-${padded(last)}-${mac}`

export const fileName = 'lines.jsonl'

/** The page that a path below the installation's folder names; undefined for a foreign path. */
export function readPagePath(path: string): PageName | undefined {
  const [, lineage, first, last, mac] =
    /^([0-9a-f]{16})\/(\d{12})-(\d{12})-([0-9a-f]{16})\/lines\.jsonl$/.exec(path) ?? []
  if (lineage === undefined || mac === undefined) return undefined
  return { lineage, first: Number(first), last: Number(last), mac }
}

/** Whether one copy of a page has all lines of another. */
export const holds = (page: Pick<Page, 'first' | 'last' | 'macs'>, other: PageName) =>
  page.first === other.first &&
  other.last <= page.last &&
  page.macs[other.last - other.first]?.startsWith(other.mac) === true

interface Read {
  /** Undefined while there is no line. */
  readonly lineage: string | undefined
  readonly pages: readonly Page[]
}

/**
 * The pages of a ledger from the byte `from`, where a page begins. From the start if the ledger
 * is not the one that `lineage` names, or was replaced by an older copy of itself. Throws if a
 * line is not valid, because the lines after it would be ignored. The file is synced to the disk
 * first: a copy must not have a line that a power cut could still remove.
 */
export async function readPages(
  file: string,
  since: { readonly lineage?: string; readonly from: number },
): Promise<Read> {
  const handle = await ifThere(open(file, 'r'))
  if (!handle) return { lineage: undefined, pages: [] }
  try {
    const { size } = await handle.stat()
    await handle.sync()
    const lineage = await lineageOf(handle, size)
    if (lineage === undefined) return { lineage, pages: [] }
    const isKnown = lineage === since.lineage && since.from <= size
    const later = isKnown ? cut(lineage, await wholeLines(handle, since.from, size), since.from) : undefined
    const pages = later ?? cut(lineage, await wholeLines(handle, 0, size), 0)
    if (!pages) throw new Error('the ledger has a line that is none of ours')
    return { lineage, pages }
  } finally {
    await handle.close()
  }
}

async function wholeLines(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(to - from)
  await handle.read(bytes, 0, bytes.length, from)
  return bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1)
}

const firstLineBytes = 4096

async function lineageOf(handle: FileHandle, size: number): Promise<string | undefined> {
  const bytes = Buffer.alloc(Math.min(size, firstLineBytes))
  await handle.read(bytes, 0, bytes.length, 0)
  const [line] = bytes.toString('utf8').split('\n', 1)
  return lineShape.exec(line ?? '')?.[2]?.slice(0, macDigits)
}

/** Undefined if the bytes do not begin with a page's first line, or if a line is not valid. */
function cut(lineage: string, bytes: Buffer, from: number): Page[] | undefined {
  const pages: Page[] = []
  let lines: { readonly seq: number; readonly mac: string }[] = []
  let begin = 0
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at) + 1
    const [, seq, mac] = lineShape.exec(bytes.toString('utf8', at, end - 1)) ?? []
    if (mac === undefined || (lines.length === 0 && Number(seq) % pageLines !== 1)) return undefined
    lines.push({ seq: Number(seq), mac })
    at = end
    const isLast = at === bytes.length || Number(seq) % pageLines === 0
    if (!isLast) continue
    pages.push(pageOf(lineage, lines, bytes.toString('utf8', begin, at), { from: from + begin, to: from + at }))
    lines = []
    begin = at
  }
  return pages
}

function pageOf(
  lineage: string,
  lines: readonly { readonly seq: number; readonly mac: string }[],
  text: string,
  place: { readonly from: number; readonly to: number },
): Page {
  const [first] = lines
  const last = lines.at(-1)
  if (!first || !last) throw new Error('a page has a line')
  return {
    ...place,
    ...{ lineage, first: first.seq, last: last.seq, mac: last.mac.slice(0, macDigits) },
    macs: lines.map(({ mac }) => mac),
    text,
  }
}

/** Whether no more lines will be added to the page. */
export const isFull = ({ last }: PageName) => last % pageLines === 0
