/**
 * Ledgers pulled from a backup target, in case their host is lost.
 *
 *    target: pages of one lineage, each in several copies ──▶ <data folder>/ledgers/<lineage>.jsonl
 *
 * Of the copies of a page, the longest is read. A shorter copy is read only if it is not the
 * beginning of the longest: then a host continued from an older copy of the ledger. The chain
 * tells the two branches apart, and each becomes a file. The chain is verified while the pages
 * are put together; the first line that does not fit and all lines after it are not valid.
 * Every command of a recovery then reads the files in the folder (reconcile.ts).
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../../kernel/config/config.ts'
import { type ChainEnd, noLine, readLedger, readLine } from '../../../kernel/ledger/ledger.ts'
import type { Keyring } from '../../../kernel/sealing/keyring.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { ifThere } from '../../../kernel/values/if-there.ts'
import { writeWhole } from '../../../kernel/values/write-whole.ts'
import { withStore } from '../../backup/open-store.ts'
import { type OpenedTarget, type Store, StoreFailure } from '../../backup/store.ts'
import { fileName, folderOf, ledgersFolder, type PageName, readPagePath } from './ledger-pages.ts'

export interface PulledLedger {
  readonly lineage: string
  /** The path of the file that was written. */
  readonly file: string
  readonly lines: number
  readonly obligations: number
  readonly newest_at: string | null
  /** The first line that is not valid, and why; the lines after it are ignored. */
  readonly fault: string | null
}

/** A page has at most some 100 kB; a longer file is not a page. */
const longestPageBytes = 4 * 1024 * 1024

/** The folder of the ledgers that were pulled from targets. */
export const pulledFolder = ({ dataDir }: Config) => join(dataDir, 'ledgers')

/** The files in that folder. */
export async function pulledFiles(config: Config): Promise<string[]> {
  const folder = pulledFolder(config)
  const names = (await ifThere(readdir(folder))) ?? []
  return names.filter((name) => name.endsWith('.jsonl')).map((name) => join(folder, name))
}

/** Pulls every ledger of this installation from a target. Throws StoreFailure. */
export async function pullLedgers(installation: Installation, target: OpenedTarget): Promise<readonly PulledLedger[]> {
  const { identity, keyring, config } = installation
  const root = ledgersFolder(identity.id)
  return withStore(installation, target, async (store) => {
    const names: PageName[] = []
    for await (const { path, sizeBytes } of store.list(root)) {
      const name = readPagePath(path.slice(root.length + 1))
      if (name && sizeBytes <= longestPageBytes) names.push(name)
    }
    const pulled: PulledLedger[] = []
    for (const lineage of [...new Set(names.map((name) => name.lineage))].sort()) {
      const pages = await readCopies(
        store,
        root,
        names.filter((name) => name.lineage === lineage),
      )
      for (const [index, lines] of branches(keyring, pages).entries())
        pulled.push(await keep(config, keyring, lineage, index, lines))
    }
    return pulled
  })
}

interface PageCopy extends PageName {
  readonly lines: readonly string[]
}

/** The copies whose lines are not all in a longer copy, in the order of their lines. */
async function readCopies(store: Store, root: string, names: readonly PageName[]): Promise<PageCopy[]> {
  const read: PageCopy[] = []
  for (const name of names.toSorted((one, other) => one.first - other.first || other.last - one.last)) {
    if (read.some((longer) => isBeginning(name, longer))) continue
    const content = await readText(store, `${root}/${folderOf(name)}/${fileName}`)
    read.push({ ...name, lines: content.split('\n').slice(0, -1) })
  }
  return read
}

async function readText(store: Store, path: string): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of (await store.get(path)) as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > longestPageBytes) throw new StoreFailure('failed')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const isBeginning = (name: PageName, longer: PageCopy) =>
  name.first === longer.first && longer.lines[name.last - name.first]?.includes(`"mac":"${name.mac}`) === true

interface Branch {
  readonly lines: readonly string[]
  readonly end: ChainEnd
}

/** Puts the pages together along the chain. The longest branch gets a page that does not fit, as its fault. */
function branches(keyring: Keyring, pages: readonly PageCopy[]): (readonly string[])[] {
  let found: readonly Branch[] = [{ lines: [], end: noLine }]
  for (const first of new Set(pages.map((page) => page.first))) {
    const candidates = pages.filter((page) => page.first === first)
    const grown = found.map((branch) => ({
      branch,
      longer: candidates.flatMap((page) => extended(keyring, branch, page)),
    }))
    const isChained = grown.some(({ longer }) => longer.length > 0)
    found = isChained
      ? grown.flatMap(({ branch, longer }) => (longer.length > 0 ? longer : [branch]))
      : withMisfit(found, candidates[0]?.lines ?? [])
  }
  return found.map(({ lines }) => lines).filter((lines) => lines.length > 0)
}

function withMisfit(found: readonly Branch[], lines: readonly string[]): readonly Branch[] {
  const [longest, ...others] = found.toSorted((one, other) => other.lines.length - one.lines.length)
  return longest ? [{ ...longest, lines: [...longest.lines, ...lines] }, ...others] : found
}

/** The branch with the page appended, if the page's first line is chained to the branch's end. */
function extended(keyring: Keyring, branch: Branch, page: PageCopy): Branch[] {
  let { end } = branch
  for (const [index, line] of page.lines.entries()) {
    const read = readLine(keyring, end, line)
    if (typeof read !== 'string') end = read
    else if (index === 0) return []
    else break
  }
  return [{ lines: [...branch.lines, ...page.lines], end }]
}

async function keep(
  config: Config,
  keyring: Keyring,
  lineage: string,
  index: number,
  lines: readonly string[],
): Promise<PulledLedger> {
  const file = join(pulledFolder(config), `${lineage}${index === 0 ? '' : `-${index + 1}`}.jsonl`)
  await writeWhole(file, lines.map((line) => `${line}\n`).join(''))
  const { obligations, fault } = await readLedger(file, keyring)
  return {
    ...{ lineage, file, lines: lines.length, obligations: obligations.length },
    newest_at: obligations.at(-1)?.at ?? null,
    fault: fault ?? null,
  }
}
