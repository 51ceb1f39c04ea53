/**
 * The obligation ledger: JSON Lines outside the database, written before the action (write-ahead).
 *
 *    {"v":1,"seq":7,"at":"2026-11-20T12:00:00.000Z","act":"token.revoked","tenant_id":"…","id":"…","key":"k2026","mac":"…"}
 *
 *    obligations (fsync) ──▶ commit ──▶ {"act":"settled","of":[7],"outcome":"done"}
 *                              └─ refused, rolled back ──▶ … "outcome":"void"
 *                              └─ killed, answer lost ──▶ nothing: unsettled
 *
 * Always true:
 *  - a transaction with obligations commits only after its lines are on the disk;
 *  - `mac` is HMAC-SHA256, under a key of the keyring, over the previous mac and the line, so
 *    that nobody without the keyring can change, remove or insert a line;
 *  - one process appends at a time (the kernel releases the lock of a process that dies), and
 *    the next append removes a line that a power cut left incomplete: nothing relied on it.
 *
 * Not guaranteed: that the end is complete. If lines are cut off at the end of the file, the
 * remaining chain still verifies; therefore copies are kept elsewhere (ledger-copies.ts).
 *
 * Elsewhere: when it is written (write-ahead.ts), what is done with it (reconcile.ts). Ours: The
 * obligation ledger; docs/decisions/0041.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { fstatSync, readSync, statSync, writeSync } from 'node:fs'
import { constants, type FileHandle, open, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { Note, Obligation } from '../../contract/obligation.ts'
import { makeLockFile, openTurns, type Turns } from '../database/embedded/locks.ts'
import type { Keyring } from '../sealing/keyring.ts'
import { decrypt, encrypt, lengthPrefixed } from '../sealing/sealing.ts'
import { makeFolder } from '../values/folder.ts'
import { ifThere } from '../values/if-there.ts'
import { dateNow } from '../values/time.ts'

/** The ledger cannot be written, so an action with an obligation must not happen. */
export class LedgerUnavailable extends Error {
  override readonly name = 'LedgerUnavailable'
}

export interface Entry<Act = Obligation | Note> {
  readonly seq: number
  readonly at: string
  readonly act: Act
  /** Unique among the lines of all ledgers. */
  readonly mac: string
}

export interface LedgerContents {
  readonly installationId: string | undefined
  /** The obligations whose transaction is not known to have failed, oldest first. */
  readonly obligations: readonly (Entry<Obligation> & { readonly isSettled: boolean })[]
  /** The macs of obligations whose transaction is known to have failed; a copy of the ledger may lack that fact. */
  readonly voided: ReadonlySet<string>
  /** The mac of the first line, and the number of the last trusted line. No mac in an empty ledger. */
  readonly lineage: string | undefined
  readonly last: number
  /** The first line that is not trusted, and why; undefined for an intact ledger. */
  readonly fault: string | undefined
}

export interface Ledger {
  readonly file: string
  /** Puts the acts on the disk and answers their numbers. Throws LedgerUnavailable. */
  append(acts: readonly Obligation[]): Promise<readonly number[]>
  /** Records their outcome. A failure leaves them unsettled, which is safe. */
  settle(of: readonly number[], outcome: 'done' | 'void'): Promise<void>
  /** Waits for what is being written, and keeps no file open any more. */
  close(): Promise<void>
}

const Line = z.object({
  v: z.literal(1),
  seq: z.int().positive(),
  at: z.string(),
  key: z.string(),
  mac: z.string().regex(/^[0-9a-f]{64}$/),
})

const noMac = '0'.repeat(64)
/** How much of the end is read: of most ledgers the first suffices. */
const tailBytes = [4 * 1024, 64 * 1024, 1024 * 1024]
const newline = 0x0a
const purpose = 'svc/ledger/v1'
const reasonPurpose = 'svc/ledger-reason/v1'

/** A line is never rewritten, so its derived keys outlive the key under which it was written. */
export const ledgerPurposes = [purpose, reasonPurpose]

/** A ledger at a path; the file is made with its first line. `installationId` is asked for then. */
export function openLedger(file: string, keyring: Keyring, installationId: () => string): Ledger {
  let latest: Promise<unknown> = Promise.resolve()
  const turnFile = `${file}.turn`
  let turns: { readonly inode: number; readonly among: Turns } | undefined
  const turnsOfFile = async (): Promise<Turns> => {
    if (turns && turns.inode === inodeOf(turnFile)) return turns.among
    turns?.among.close()
    makeFolder(dirname(file), 0o700)
    await makeLockFile(turnFile)
    turns = { inode: inodeOf(turnFile) ?? 0, among: openTurns(turnFile) }
    return turns.among
  }
  let kept: OpenFile | undefined
  /** The file, which is opened once. Another one at its path, as a recovery puts there, is opened anew. */
  const openFile = async (): Promise<OpenFile> => {
    if (kept && isStillAt(file, kept.handle)) return kept
    const old = kept
    kept = undefined
    await old?.handle.close()
    kept = {
      handle: await open(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600),
      written: undefined,
    }
    return kept
  }
  const writeInTurn = async (acts: readonly (Obligation | Note)[], isDurable: boolean): Promise<number[]> => {
    const turn = await (await turnsOfFile()).take()
    try {
      return await appendTo(await openFile(), keyring, installationId, acts, isDurable)
    } finally {
      turn.release()
    }
  }
  // Writes of this process wait for each other here: the turn among processes is asked for again and again.
  const write = (acts: readonly (Obligation | Note)[], isDurable: boolean): Promise<number[]> => {
    const written = latest.then(() => writeInTurn(acts, isDurable))
    latest = written.catch(() => {})
    return written
  }

  return {
    file,
    async append(acts) {
      if (acts.length === 0) return []
      try {
        return await write(acts, true)
      } catch (cause) {
        throw new LedgerUnavailable('the obligation ledger cannot be written', { cause })
      }
    },
    async settle(of, outcome) {
      if (of.length > 0) await write([{ act: 'settled', of: [...of], outcome }], false).catch(() => {})
    },
    async close() {
      await latest
      turns?.among.close()
      turns = undefined
      await kept?.handle.close()
      kept = undefined
    },
  }
}

interface OpenFile {
  readonly handle: FileHandle
  /** Behind the last write of this process, and when that was: nobody has written since if both are still so. */
  written: (FileEnd & { readonly mtimeMs: number }) | undefined
}

interface FileEnd {
  /** Where the last whole line ends, in bytes. */
  readonly at: number
  /** That line's number and mac; those of no line in an empty ledger. */
  readonly last: ChainEnd
}

/**
 * The end of the file is in memory: it is read and lengthened at once, for a thread's answer would wait behind those of the
 * database. Only what waits for the disk goes to a thread.
 */
async function appendTo(
  file: OpenFile,
  keyring: Keyring,
  installationId: () => string,
  acts: readonly (Obligation | Note)[],
  isDurable: boolean,
): Promise<number[]> {
  const { handle } = file
  const { size, mtimeMs } = fstatSync(handle.fd)
  const { written } = file
  const end = written?.at === size && written.mtimeMs === mtimeMs ? written : endOf(handle.fd, size)
  file.written = undefined
  let { seq, mac } = end.last
  const opening: Note[] = seq === 0 ? [{ act: 'ledger.opened', installation_id: installationId() }] : []
  const numbers: number[] = []
  let text = ''
  for (const act of [...opening, ...acts]) {
    seq += 1
    const line = lineOf(keyring, seq, act, mac)
    mac = line.mac
    text += `${line.text}\n`
    if (!opening.includes(act as Note)) numbers.push(seq)
  }
  if (end.at < size) await handle.truncate(end.at) // the incomplete line of a power cut
  const bytes = Buffer.from(text, 'utf8')
  try {
    writeWhole(handle.fd, bytes, end.at)
    if (isDurable) await handle.sync()
  } catch (error) {
    await handle.truncate(end.at).catch(() => {})
    throw error
  }
  file.written = { at: end.at + bytes.length, last: { seq, mac }, mtimeMs: fstatSync(handle.fd).mtimeMs }
  return numbers
}

function isStillAt(file: string, handle: FileHandle): boolean {
  const there = statSync(file, { throwIfNoEntry: false })
  const opened = fstatSync(handle.fd)
  return there?.ino === opened.ino && there.dev === opened.dev
}

const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino

/** Throws where the end is none of ours. */
function endOf(fd: number, size: number): FileEnd {
  for (const bytes of tailBytes) {
    const from = Math.max(0, size - bytes)
    const tail = Buffer.alloc(size - from)
    readSync(fd, tail, 0, tail.length, from)
    const end = tail.lastIndexOf(newline) + 1
    const begin = end === 0 ? 0 : tail.lastIndexOf(newline, end - 2) + 1
    if (begin === 0 && from > 0) continue // the line begins before
    if (end === 0) return { at: from, last: noLine }
    const last = Line.safeParse(JSON.parse(tail.toString('utf8', begin, end)))
    if (!last.success) throw new Error('the last line of the ledger is none of ours')
    return { at: from + end, last: last.data }
  }
  throw new Error('the ledger ends with no line of ours')
}

/** A disk that fills up takes the first part of a write, and reports an error only at the next write. */
function writeWhole(fd: number, bytes: Buffer, position: number): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, position + at)
}

function lineOf(keyring: Keyring, seq: number, act: Obligation | Note, before: string) {
  const key = keyring.current
  const sealed = act.act === 'hold.placed' ? { ...act, reason: sealReason(keyring, key, act.id, act.reason) } : act
  const body = JSON.stringify({ v: 1, seq, at: dateNow().toISOString(), ...sealed, key })
  const mac = macOf(keyring, key, before, body)
  return { mac, text: `${body.slice(0, -1)},"mac":"${mac}"}` }
}

const macOf = (keyring: Keyring, key: string, before: string, body: string) =>
  createHmac('sha256', keyring.derive(key, purpose)).update(before).update(body).digest('hex')

const reasonContext = (id: string) => lengthPrefixed('svc.ledger.reason.v1', id)
const reasonKey = (keyring: Keyring, key: string) => keyring.derive(key, reasonPurpose)

const sealReason = (keyring: Keyring, key: string, id: string, reason: string) =>
  encrypt(reasonKey(keyring, key), Buffer.from(reason, 'utf8'), reasonContext(id)).toString('base64url')

const openReason = (keyring: Keyring, key: string, id: string, sealed: string) =>
  decrypt(reasonKey(keyring, key), Buffer.from(sealed, 'base64url'), reasonContext(id)).toString('utf8')

/** Reads and verifies a ledger; a missing file is an empty ledger. Lines after a fault are not trusted. */
export async function readLedger(file: string, keyring: Keyring): Promise<LedgerContents> {
  const text = (await ifThere(readFile(file, 'utf8'))) ?? ''
  const lines = text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1)
  const obligations = new Map<number, Entry<Obligation> & { isSettled: boolean }>()
  const voided = new Set<string>()
  let installationId: string | undefined
  let before: ChainEnd = noLine
  let lineage: string | undefined
  const contents = (fault?: string): LedgerContents => ({
    ...{ installationId, lineage, voided, fault },
    obligations: [...obligations.values()],
    last: before.seq,
  })
  for (const [index, line] of lines.entries()) {
    const entry = readLine(keyring, before, line)
    if (typeof entry === 'string') return contents(`line ${index + 1}: ${entry}`)
    before = entry
    lineage ??= entry.mac
    const { act } = entry
    if (act.act === 'ledger.opened') installationId = act.installation_id
    else if (act.act === 'settled')
      for (const seq of act.of) {
        const settled = obligations.get(seq)
        if (!settled) continue
        if (act.outcome === 'done') settled.isSettled = true
        else {
          obligations.delete(seq)
          voided.add(settled.mac)
        }
      }
    else obligations.set(entry.seq, { ...entry, act, isSettled: false })
  }
  return contents()
}

/** The end of the chain before a line. */
export interface ChainEnd {
  readonly seq: number
  readonly mac: string
}

/** The end of the chain before the first line. */
export const noLine: ChainEnd = { seq: 0, mac: noMac }

const Body = z.looseObject(Line.omit({ mac: true }).shape)

function readBody(text: string): z.output<typeof Body> | undefined {
  try {
    return Body.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** The entry of a line, or what is wrong with it. */
export function readLine(keyring: Keyring, before: ChainEnd, text: string): Entry | string {
  const [, start, mac] = /^(\{.*),"mac":"([0-9a-f]{64})"\}$/.exec(text) ?? []
  if (start === undefined || mac === undefined) return 'is not whole'
  const body = `${start}}`
  const said = readBody(body)
  if (!said) return 'is not whole'
  const { v: _, seq, at, key, ...rest } = said
  if (!ledgerPurposes.every((one) => keyring.serves(key, one))) return `names the key "${key}", which the keyring lacks`
  if (!timingSafeEqual(Buffer.from(macOf(keyring, key, before.mac, body)), Buffer.from(mac)))
    return 'was changed, or lines before it are missing'
  if (seq !== before.seq + 1) return 'is out of order'
  const parsed = z.union([Obligation, Note]).safeParse(rest)
  if (!parsed.success) return 'names an act that this release does not know'
  const act = parsed.data
  const opened = act.act === 'hold.placed' ? { ...act, reason: openReason(keyring, key, act.id, act.reason) } : act
  return { seq, at, act: opened, mac }
}
