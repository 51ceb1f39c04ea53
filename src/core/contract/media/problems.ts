/** Refusals of media; part of the one table (problem.ts). */
export const mediaProblems = {
  'media.too_large': {
    status: 413,
    params: ['limit_bytes'],
    says: 'A file may have {limit_bytes} bytes at most.',
    remedy: 'Send a smaller file; an operator can allow larger ones with SVC_MEDIA_MAX_BYTES.',
  },
  'media.offset': {
    status: 409,
    params: ['expected'],
    says: 'The next byte to send is number {expected}.',
    remedy: 'Go on there, with `Content-Range`; if it is the size of the file, all of it has come.',
  },
  'media.busy': {
    status: 409,
    says: 'Another call is sending the bytes of this file.',
    remedy: 'Wait for its end; a call that was cut off counts for half a minute.',
  },
  'media.size_mismatch': {
    status: 422,
    params: ['expected'],
    says: 'The bytes do not have the announced length: {expected} were expected.',
    remedy: 'Send the whole rest of the file, or a part of it whose length is a multiple of 8 MiB.',
  },
  'media.store_failed': {
    status: 503,
    says: 'The store of files cannot be written or read.',
    remedy: 'Try again; an operator sees the cause in the log of the daemon.',
  },
  'media.not_ready': {
    status: 409,
    params: ['state'],
    says: 'The file is {state}, so its bytes cannot be read.',
    remedy: 'Wait for the event `media.ready`; a refused file has no bytes any more.',
  },
  'media.range': {
    status: 416,
    params: ['size_bytes'],
    says: 'The range is not within the {size_bytes} bytes of the file.',
  },
  'media.in_use': {
    status: 409,
    params: ['count'],
    says: 'The file is attached in {count} places.',
    remedy: 'Detach it first. An ADMIN deletes it everywhere.',
  },
} as const
