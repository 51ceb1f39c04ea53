import { type FileHandle, open, rm } from 'node:fs/promises'
import { Args, Flags } from '@oclif/core'
import {
  type Media,
  type MediaVariant,
  mediaOperations,
  mediaVariants,
  partBytes,
} from '../../../core/contract/media/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import type { Caller } from '../../call/caller.ts'
import { Failure } from '../../failure.ts'
import { mediaDetails, sizeInWords } from '../../render/media.ts'
import { bar, withToldProgress } from '../../render/progress.ts'

type Write = (bytes: Buffer) => Promise<void>

export default class MediaGet extends CallerCommand {
  static override summary = 'Download a file to standard output, or into a new file'
  static override examples = [
    '<%= config.bin %> media get 0199c0de-7a3b-7cde-8f01-23456789abcd > minutes.pdf',
    '<%= config.bin %> media get 0199c0de-7a3b-7cde-8f01-23456789abcd --to minutes.pdf --json',
  ]
  static override args = { media: Args.string({ ignoreStdin: true, required: true, description: "the file's id" }) }
  static override flags = {
    to: Flags.string({ summary: 'Write it into this file, which must not exist.', helpValue: 'FILE' }),
    variant: Flags.option({ options: mediaVariants, default: 'ORIGINAL' as const })({
      summary: 'A preview of a picture in place of the file: WebP of at most 256 or 1024 pixels an edge.',
    }),
  }

  async run(): Promise<Media> {
    const { args, flags } = await this.parse(MediaGet)
    if (flags.to === undefined && this.jsonEnabled())
      throw new Failure('usage', 'With --json the file needs a place.', 'Add --to FILE.')
    if (flags.to === undefined && process.stdout.isTTY)
      throw new Failure('usage', 'A terminal cannot show a file.', 'Add --to FILE, or > FILE.')
    const caller = await this.open(flags)
    const media = await caller.call(mediaOperations.getMedia, { mediaId: args.media })
    const download = (write: Write) =>
      flags.variant === 'ORIGINAL'
        ? downloaded(caller, media, write)
        : preview(caller, media, flags.variant).then(write)
    if (flags.to === undefined) {
      await download(toStdout)
      return media
    }
    await intoFile(flags.to, download)
    await this.show(() => mediaDetails(media))
    return media
  }
}

/** Small enough for one piece. */
async function preview(caller: Caller, { id, previews }: Media, variant: 'SMALL' | 'MEDIUM'): Promise<Buffer> {
  if (!previews.includes(variant))
    throw new Failure(
      'notFound',
      'The file has no previews: only pictures that are READY have.',
      'Leave --variant out.',
    )
  return (await received(caller, { mediaId: id, variant })).bytes
}

/** Piece by piece, so that memory does not depend on the file. */
const downloaded = (caller: Caller, media: Media, write: Write): Promise<void> =>
  withToldProgress('Receiving', async (tell) => {
    const size = Number(media.size_bytes)
    for (let from = 0; from < size; ) {
      tell(`Receiving ${media.filename} ${bar(from, size)} of ${sizeInWords(size)}`)
      const to = Math.min(from + partBytes, size) - 1
      const got = await received(caller, { mediaId: media.id }, { range: `bytes=${from}-${to}` })
      if (got.bytes.byteLength !== to - from + 1) throw new Failure('failed', 'The server sent another range.')
      await write(got.bytes)
      from = to + 1
    }
  })

async function received(
  caller: Caller,
  asked: { readonly mediaId: string; readonly variant?: MediaVariant },
  more: { readonly range?: string } = {},
) {
  const headers = { accept: '*/*', ...more }
  const got = await caller.transfer?.(
    mediaOperations.getMediaContent,
    { ...asked, disposition: 'ATTACHMENT' },
    { headers },
  )
  return got ?? refuseWithoutApi()
}

function refuseWithoutApi(): never {
  throw new Failure('usage', 'Files are downloaded over the API alone.')
}

const toStdout: Write = (bytes) =>
  new Promise((done, failed) => process.stdout.write(bytes, (error) => (error ? failed(error) : done())))

/** A download that fails leaves no file. */
async function intoFile(path: string, work: (write: Write) => Promise<void>): Promise<void> {
  const file: FileHandle = await open(path, 'wx').catch((error: NodeJS.ErrnoException) => {
    throw new Failure(
      error.code === 'EEXIST' ? 'conflict' : 'usage',
      error.code === 'EEXIST' ? `${path} exists already.` : `${path} cannot be written (${error.code}).`,
    )
  })
  try {
    await work(async (bytes) => {
      for (let at = 0; at < bytes.byteLength; ) at += (await file.write(bytes, at)).bytesWritten
    })
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}
