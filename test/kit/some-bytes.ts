import { randomBytes } from 'node:crypto'

/** Bytes of a file like no other. One of 65,536 would begin as a program does, by chance, and be refused. */
export function someBytes(length: number): Buffer {
  const bytes = randomBytes(length)
  bytes[0] = 0
  return bytes
}
