/**
 * clamd: has a file checked for malicious content while it is read.
 *
 *    zINSTREAM NUL | length (4 bytes, big-endian) | bytes | … | length 0      what is sent
 *    stream: OK NUL        stream: NAME FOUND NUL        … ERROR NUL          what is answered
 *
 * The address is the operator's own, from the environment, so it does not pass the guard: it is usually of this machine.
 * clamd may answer before the end, such as when a file is longer than its StreamMaxLength; the rest is not sent then.
 * Spec: items 4; docs/decisions/0352.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A TCP port, or the path of a socket. */
export type ClamdAddress = { readonly host: string; readonly port: number } | { readonly path: string }

interface Scan {
  /** Resolves when more may be sent. */
  send(bytes: Uint8Array): Promise<void>
  /** The name of what was found; undefined: nothing. Throws ScannerFailed. */
  end(): Promise<string | undefined>
  close(): void
}

/** clamd could not be reached, or did not say whether the file is clean. */
class ScannerFailed extends Error {
  override readonly name = 'ScannerFailed'
}

const silentMs = 60_000
/** clamd takes pieces of any length; a longer one is cut. */
const longestAnswer = 1024

/** Reads `HOST:PORT`, `[ADDRESS]:PORT` or the path of a socket. */
export function readClamdAddress(text: string): ClamdAddress | { readonly fault: string } {
  if (text.startsWith('/')) return { path: text }
  const [, name, address, port] = /^(?:([A-Za-z0-9.-]+)|\[([0-9a-fA-F:.]+)\]):([0-9]{1,5})$/.exec(text) ?? []
  const host = name ?? address
  if (host === undefined || Number(port) > 65_535 || Number(port) === 0)
    return { fault: 'must be HOST:PORT or the path of a socket' }
  return { host, port: Number(port) }
}

const placeOfClamd = (address: ClamdAddress) => ('path' in address ? address.path : `${address.host}:${address.port}`)

/** Throws ScannerFailed. */
export async function openScan(address: ClamdAddress): Promise<Scan> {
  const { socket, answer } = await dial(address)
  socket.write('zINSTREAM\0')
  let isAnswered = false
  const settled = () => {
    isAnswered = true
  }
  answer.then(settled, settled)
  return {
    async send(bytes) {
      if (isAnswered || bytes.byteLength === 0) return
      const head = Buffer.alloc(4)
      head.writeUInt32BE(bytes.byteLength)
      socket.write(head)
      if (!socket.write(bytes)) await Promise.race([once(socket, 'drain').catch(() => {}), answer.catch(() => {})])
    },
    async end() {
      if (!isAnswered) socket.write(Buffer.alloc(4))
      return verdictOf(await answer)
    },
    close: () => socket.destroy(),
  }
}

/** Whether clamd answers. Throws ScannerFailed. */
export async function pingClamd(address: ClamdAddress): Promise<void> {
  const { socket, answer } = await dial(address)
  try {
    socket.write('zPING\0')
    const said = await answer
    if (said !== 'PONG') throw new ScannerFailed(`clamd answered ${JSON.stringify(said)}`)
  } finally {
    socket.destroy()
  }
}

async function dial(address: ClamdAddress): Promise<{ socket: Socket; answer: Promise<string> }> {
  const socket = connect('path' in address ? { path: address.path } : { ...address, noDelay: true })
  socket.setTimeout(silentMs, () => socket.destroy(new Error('clamd was silent for a minute')))
  const answer = answerOf(socket)
  answer.catch(() => {}) // whoever waits for it gets the rejection
  await once(socket, 'connect').catch((error: unknown) => {
    throw new ScannerFailed(`clamd at ${placeOfClamd(address)} was not reached`, { cause: error })
  })
  return { socket, answer }
}

/** What clamd says, up to its NUL or the end of the connection. */
function answerOf(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    socket.on('data', (bytes) => {
      said = `${said}${bytes.toString('utf8')}`.slice(0, longestAnswer)
      if (said.includes('\0')) resolve(said.slice(0, said.indexOf('\0')).trim())
    })
    // An error of writing comes before what was answered is read, so the end decides.
    let cause: unknown
    socket.on('error', (error) => {
      cause = error
    })
    socket.on('close', () =>
      said === ''
        ? reject(
            new ScannerFailed('clamd closed the connection; it does so for files longer than its StreamMaxLength', {
              cause,
            }),
          )
        : resolve(said.trim()),
    )
  })
}

function verdictOf(said: string): string | undefined {
  if (said === 'stream: OK') return undefined
  const [, name] = /^stream: (.+) FOUND$/.exec(said) ?? []
  if (name !== undefined) return name
  throw new ScannerFailed(
    /size limit exceeded/i.test(said)
      ? 'the file is longer than StreamMaxLength of clamd; set it to SVC_MEDIA_MAX_BYTES or more'
      : `clamd answered ${JSON.stringify(said)}`,
  )
}
