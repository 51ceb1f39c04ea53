import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { basename } from 'node:path'
import { Args, Flags } from '@oclif/core'
import { attachmentOperations } from '../../../core/contract/media/attachments.ts'
import { type Media, mediaOperations, partBytes } from '../../../core/contract/media/operations.ts'
import { Problem } from '../../../core/contract/problem.ts'
import { CallerCommand } from '../../base-command.ts'
import type { Caller } from '../../call/caller.ts'
import { NotReached } from '../../call/http.ts'
import { Failure } from '../../failure.ts'
import { unreadable } from '../../input/unreadable.ts'
import { mediaDetails, sizeInWords } from '../../render/media.ts'
import { bar, withToldProgress } from '../../render/progress.ts'

/** How often a part is sent again whose answer was lost. */
const repeats = 5

export default class MediaPut extends CallerCommand {
  static override summary = 'Upload a file, and attach it to an item if one is named'
  static override description =
    'The file is hashed first, so that the server refuses it if other bytes arrive. It is sent in parts; a part whose answer is lost is sent again from where the server says.'
  static override examples = [
    '<%= config.bin %> media put minutes.pdf',
    '<%= config.bin %> media put minutes.pdf --item 0199c0de-7a3b-7cde-8f01-23456789abcd --name May.pdf --json',
  ]
  static override args = { file: Args.string({ ignoreStdin: true, required: true, description: 'the file' }) }
  static override flags = {
    item: Flags.string({ summary: 'Attach it to this item.', helpValue: 'ITEM' }),
    name: Flags.string({ summary: "Its name; absent: the file's.", helpValue: 'NAME' }),
  }

  async run(): Promise<Media> {
    const { args, flags } = await this.parse(MediaPut)
    const caller = await this.open(flags)
    const file = await opened(args.file)
    try {
      const media = await withToldProgress('Reading', (tell) =>
        uploaded(caller, file, flags.name ?? basename(args.file), tell),
      )
      if (flags.item !== undefined)
        await caller.call(attachmentOperations.attachItemMedia, { itemId: flags.item, mediaId: media.id, body: {} })
      await this.show(() => mediaDetails(media))
      return media
    } finally {
      await file.close()
    }
  }
}

async function opened(path: string): Promise<FileHandle> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(`the file ${path}`, error)
  })
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw new Failure('usage', `${path} is no file.`)
}

type Tell = (text: string) => void

async function uploaded(caller: Caller, file: FileHandle, filename: string, tell: Tell): Promise<Media> {
  const { size } = await file.stat()
  const sha256 = await hashOf(file)
  let media = await caller.call(mediaOperations.createMedia, {
    body: { filename, size_bytes: size, sha256 },
    idempotencyKey: randomUUID(),
  })
  const buffer = Buffer.allocUnsafe(Math.min(partBytes, size))
  for (let failures = 0; media.state === 'UPLOADING'; ) {
    const from = Number(media.received_bytes)
    tell(`Sending ${filename} ${bar(from, size)} of ${sizeInWords(size)}`)
    try {
      media = await sendPart(caller, media, file, buffer)
      failures = 0
    } catch (error) {
      failures += 1
      if (!isWorthAnother(error) || failures > repeats) throw error
      media = await caller.call(mediaOperations.getMedia, { mediaId: media.id })
    }
  }
  return media
}

async function hashOf(file: FileHandle): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false })) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

async function sendPart(caller: Caller, media: Media, file: FileHandle, buffer: Buffer): Promise<Media> {
  const from = Number(media.received_bytes)
  const { bytesRead } = await file.read(buffer, 0, buffer.byteLength, from)
  if (bytesRead === 0) throw new Failure('failed', 'The file has become shorter.')
  const range = `bytes ${from}-${from + bytesRead - 1}/${media.size_bytes}`
  const piece = { headers: { 'content-range': range }, body: buffer.subarray(0, bytesRead) }
  const sent = await caller.transfer?.(mediaOperations.uploadMedia, { mediaId: media.id }, piece)
  if (!sent) throw new Failure('usage', 'Files are uploaded over the API alone.')
  return JSON.parse(sent.bytes.toString('utf8')) as Media
}

/** The answer was lost, or the server has more or less than we know. */
const isWorthAnother = (error: unknown): boolean =>
  (error instanceof NotReached && error.maybeDone) || (error instanceof Problem && error.code === 'media.offset')
