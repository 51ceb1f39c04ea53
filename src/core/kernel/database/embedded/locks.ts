/**
 * Two locks that processes share and that the kernel drops when a process dies, however
 * it dies. Node has no flock, but SQLite is built on such locks and Node ships SQLite:
 * an empty SQLite file is used as a lock, nothing is ever written into it.
 *
 *  - the turn: one process at a time checks the server, starts it or stops it;
 *  - the hold: every process that uses the server shares it; a process that can take it
 *    exclusively was the last one.
 *
 * Files with process ids are not used, because an id may later belong to another process.
 *
 * Never open these files in another way: POSIX releases all locks of a process on a file when
 * the process closes any descriptor of that file.
 */

import { open } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'

export interface Lock {
  release(): void
}

const pollMilliseconds = 15
const busy = 5 // SQLITE_BUSY

/** Waits until the caller has the turn; `whenWaiting` is called once after a second of waiting. */
export const takeTurn = (file: string, whenWaiting: () => void): Promise<Lock> =>
  inTurn(() => lockAlone(file), whenWaiting)

/** The turn of a process that takes it often, and so keeps the file open. */
export interface Turns {
  take(): Promise<Lock>
  close(): void
}

/** The file is there (makeLockFile). */
export function openTurns(file: string): Turns {
  const database = new DatabaseSync(file)
  return {
    take: () =>
      inTurn(
        () => (begin(database) ? { release: () => database.exec('rollback') } : undefined),
        () => {},
      ),
    close: () => database.close(),
  }
}

async function inTurn(take: () => Lock | undefined, whenWaiting: () => void): Promise<Lock> {
  const wordAt = performance.now() + 1_000
  for (let said = false; ; await pause(pollMilliseconds)) {
    const lock = take()
    if (lock) return lock
    if (said || performance.now() < wordAt) continue
    said = true
    whenWaiting()
  }
}

/** Shares the hold. Only the holder of the turn may call this, so that no process is trying to take it exclusively. */
export function share(file: string): Lock {
  const database = new DatabaseSync(file)
  database.exec('begin')
  database.prepare('select count(*) from sqlite_schema').get() // reading is what takes the lock
  return { release: () => database.close() }
}

/** Whether no process shares the hold any more. */
export function isFree(file: string): boolean {
  const lock = lockAlone(file)
  lock?.release()
  return lock !== undefined
}

/** Makes the file of a lock, readable only by this user: a process that can read the file can take the lock. */
export async function makeLockFile(file: string): Promise<void> {
  // Exclusively, so that an existing file is never opened and closed; see the trap above.
  const made = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await made?.close()
}

function lockAlone(file: string): Lock | undefined {
  const database = new DatabaseSync(file)
  let isLocked = false
  try {
    isLocked = begin(database)
    return isLocked ? { release: () => database.close() } : undefined
  } finally {
    if (!isLocked) database.close()
  }
}

/** Whether this process has the lock now. */
function begin(database: DatabaseSync): boolean {
  try {
    // No journal file: the lock then works on a full disk, and a kill leaves no file behind.
    database.exec('pragma journal_mode = memory; begin exclusive')
    return true
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return false
    throw error
  }
}
