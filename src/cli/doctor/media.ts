/**
 * The check of the store of files: a folder that daemons of several hosts share, or a bucket that answers; and the scanner.
 *
 * A folder on the disk of one host is a store that the daemons of other hosts do not see: what is uploaded at one of them is
 * missing at the others. Spec: items 4, Store.
 */
import { statfsSync } from 'node:fs'
import { hostname } from 'node:os'
import { mediaStore } from '../../core/areas/media/store.ts'
import { Problem } from '../../core/contract/problem.ts'
import type { Config } from '../../core/kernel/config/config.ts'
import { withClient } from '../../core/kernel/database/client.ts'
import { findDaemonClocks } from '../../core/kernel/database/clock.ts'
import { pingClamd } from '../../core/kernel/egress/clamd.ts'
import { ownEndpoints } from '../../core/kernel/egress/guard.ts'
import type { HeldDatabase } from '../call/database.ts'
import { type Finding, fail, lineOf, ok, warn } from './finding.ts'

const runbook = 'docs/runbooks/media.md'

export async function checkMedia(config: Config, database: HeldDatabase): Promise<Finding> {
  try {
    if (config.media.clamd) await pingClamd(config.media.clamd)
    return await (config.media.bucket ? checkBucket(config, database) : checkFolder(config, database))
  } catch (error) {
    // A store hides its cause from callers of the API.
    return fail('media', lineOf(error instanceof Problem ? error.cause : error), runbook)
  }
}

async function checkBucket(config: Config, { daemon }: HeldDatabase): Promise<Finding> {
  const { bucket, endpoint } = config.media.bucket ?? { bucket: '', endpoint: '' }
  const { openEgress } = await import('../../core/kernel/egress/client.ts')
  const egress = openEgress({ release: config.egress, own: ownEndpoints(config, daemon) })
  try {
    const files = mediaStore({ config, egress: async () => egress }).list('00000000-0000-0000-0000-000000000000')
    for await (const _file of files) break
    return ok('media', `files are in the bucket ${bucket} at ${endpoint}, which answers`)
  } finally {
    await egress.close()
  }
}

async function checkFolder({ media: { dir } }: Config, { daemon }: HeldDatabase): Promise<Finding> {
  const daemons = await withClient(daemon, findDaemonClocks)
  const hosts = [...new Set([hostname(), ...daemons.map((one) => one.daemon.split(' ')[0] ?? '')])].sort()
  return hosts.length === 1 || isShared(dir)
    ? ok('media', `files are in ${dir}`)
    : warn(
        'media',
        `files are in ${dir}, which is no network file system, and svc runs on several hosts: ${hosts.join(', ')}`,
        `Each of them sees only its own files. Put the folder on a shared disk, or the files into a bucket: ${runbook}`,
      )
}

/** NFS, SMB (two), Ceph, GlusterFS and others by FUSE, Lustre, GFS2, OCFS2, GPFS, 9p: the types of statfs(2). */
const networkTypes = new Set([
  ...[0x6969, 0xff534d42, 0xfe534d42, 0x00c36400, 0x65735546],
  ...[0x0bd00bd0, 0x01161970, 0x7461636f, 0x47504653, 0x01021997],
])

function isShared(dir: string): boolean {
  try {
    return networkTypes.has(statfsSync(dir).type >>> 0)
  } catch {
    return false
  }
}
