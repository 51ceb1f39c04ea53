/** A real SSH server on loopback: Debian's openssh-server, with its own keys and the user who runs the test. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { shows } from './needs.ts'
import { freePorts, runServer } from './outside-server.ts'

const program = '/usr/sbin/sshd'
export const hasSshd = shows(
  'a real SFTP server',
  'OpenSSH (apt-get install openssh-server)',
  existsSync(program) && existsSync('/usr/bin/ssh-keygen'),
)

export interface Sshd {
  readonly port: number
  readonly username: string
  /** The key that the server accepts. */
  readonly privateKey: string
  /** A key that the server refuses. */
  readonly strangerKey: string
  /** The server's own key, as a line of known_hosts without the host. */
  readonly hostKey: string
  /** A folder that the user may write. */
  readonly folder: string
  stop(): Promise<void>
}

export async function startSshd(): Promise<Sshd> {
  const base = mkdtempSync(join(tmpdir(), 'svc-sshd-'))
  const key = (name: string, type = 'ed25519') => {
    execFileSync('/usr/bin/ssh-keygen', ['-q', '-t', type, '-N', '', '-C', 'test', '-f', join(base, name)])
    return {
      secret: readFileSync(join(base, name), 'utf8'),
      open: readFileSync(join(base, `${name}.pub`), 'utf8').trim(),
    }
  }
  const [host, user, stranger] = [key('host'), key('user'), key('stranger')]
  key('host_ecdsa', 'ecdsa') // two kinds: the client must ask for the one it knows
  writeFileSync(join(base, 'authorized'), `${user.open}\n`, { mode: 0o600 })
  const folder = join(base, 'files')
  mkdirSync(folder)
  const [port = 0] = await freePorts(1)
  writeFileSync(
    join(base, 'sshd_config'),
    `ListenAddress 127.0.0.1:${port}
HostKey ${base}/host_ecdsa
HostKey ${base}/host
PidFile none
AuthorizedKeysFile ${base}/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
`,
  )
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const server = await runServer(program, ['-D', '-e', '-f', join(base, 'sshd_config')], port, base)
  return {
    port,
    username: userInfo().username,
    privateKey: user.secret,
    strangerKey: stranger.secret,
    hostKey: host.open,
    folder,
    async stop() {
      await server.stop()
      rmSync(base, { recursive: true, force: true })
    },
  }
}
