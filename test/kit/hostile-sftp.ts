/** An SFTP server on loopback that misbehaves: endless folders, names that lead out of the folder, silence. */
import { createRequire } from 'node:module'
import { type AddressInfo, createServer, type Socket } from 'node:net'

// ssh2 is the client's own dependency; its server has no types that we need.
// biome-ignore lint/suspicious/noExplicitAny: the server side of a library that we use the client of
const { Server, utils } = createRequire(createRequire(import.meta.url).resolve('ssh2-sftp-client'))('ssh2') as any

export interface Listed {
  readonly filename: string
  readonly isFolder?: boolean
  readonly size?: number
}

export interface HostileSftp {
  readonly port: number
  readonly hostKey: string
  /** READDIR requests that were answered. */
  readonly answered: number
  /** Connections that are open. */
  readonly open: number
  close(): Promise<void>
}

/**
 * `next`: the entries of the nth answer about a folder; undefined ends the list, `never` leaves the request unanswered.
 */
export async function hostileSftp(
  next: (folder: string, nth: number) => readonly Listed[] | undefined | 'never',
): Promise<HostileSftp> {
  // Not ed25519: of its keys that begin with a zero, one in 256, ssh2 drops the zero and then cannot read the key.
  const key = utils.generateKeyPairSync('ecdsa', { bits: 256 })
  const sockets = new Set<Socket>()
  let answered = 0
  const ssh = new Server({ hostKeys: [key.private] }, (client: Emitter) => {
    client.on('error', () => {})
    client.on('authentication', (asked: { accept(): void }) => asked.accept())
    client.on('session', (accept: () => Emitter) => {
      accept().on('sftp', (acceptSftp: () => Sftp) => serve(acceptSftp(), next, () => (answered += 1)))
    })
  })
  // As servers do: with Nagle's algorithm, each answer would wait 40 ms for an acknowledgement.
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    ssh.injectSocket(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    hostKey: key.public.trim(),
    get answered() {
      return answered
    },
    get open() {
      return sockets.size
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Emitter {
  on(event: string, handler: (...given: never[]) => void): Emitter
}
interface Sftp extends Emitter {
  handle(id: number, handle: Buffer): void
  name(id: number, entries: readonly object[]): void
  attrs(id: number, attrs: object): void
  status(id: number, code: number): void
}

const codes = { ok: 0, eof: 1 }

function serve(sftp: Sftp, next: Parameters<typeof hostileSftp>[0], count: () => void): void {
  const asked = new Map<string, { folder: string; nth: number }>()
  const attrsOf = (isFolder: boolean, size = 0) => ({
    mode: isFolder ? 0o40700 : 0o100600,
    size,
    uid: 0,
    gid: 0,
    atime: 0,
    mtime: 0,
  })
  const look = (id: number) => sftp.attrs(id, attrsOf(true))
  sftp.on('REALPATH', ((id: number, path: string) =>
    sftp.name(id, [{ filename: path, longname: path, attrs: attrsOf(true) }])) as never)
  sftp.on('STAT', look as never)
  sftp.on('LSTAT', look as never)
  sftp.on('OPENDIR', ((id: number, folder: string) => {
    const handle = Buffer.alloc(4)
    handle.writeUInt32BE(asked.size)
    asked.set(handle.toString('hex'), { folder, nth: 0 })
    sftp.handle(id, handle)
  }) as never)
  sftp.on('READDIR', ((id: number, handle: Buffer) => {
    const one = asked.get(handle.toString('hex'))!
    const entries = next(one.folder, one.nth)
    one.nth += 1
    if (entries === 'never') return
    count()
    if (entries === undefined) sftp.status(id, codes.eof)
    else
      sftp.name(
        id,
        entries.map(({ filename, isFolder = false, size }) => ({
          filename,
          longname: `${isFolder ? 'd' : '-'}rw------- 1 0 0 0 ${filename}`,
          attrs: attrsOf(isFolder, size),
        })),
      )
  }) as never)
  sftp.on('CLOSE', ((id: number) => sftp.status(id, codes.ok)) as never)
}
