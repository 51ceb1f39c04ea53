/**
 * Tells through the database whether a daemon serves this installation.
 *
 * A daemon that admits traffic holds a shared lock. Recovery commands check the lock before
 * they change data that a daemon may be serving. Spec: decisions 6 (`--recovery` refuses while a
 * daemon admits traffic).
 */

import type { DatabaseAddress } from './address.ts'
import { lockClasses } from './lock-classes.ts'
import { isLockHeld } from './shared-lock.ts'
import type { SignOfLife } from './sign-of-life.ts'

const servingLock = { lockClass: lockClasses.serving, key: 1 }

/** Announces that this process serves. Throws when the database cannot be reached. */
export const announceServing = (life: SignOfLife): Promise<void> => life.tell(() => [servingLock])

/** Whether any daemon admits traffic now. */
export const isServed = (address: DatabaseAddress): Promise<boolean> => isLockHeld(address, servingLock)
