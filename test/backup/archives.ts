/** Archives made by hand, from docs/archive-format.md, to be spoilt. */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'

export interface Made {
  readonly tenantId: string
  readonly jobId: string
  /** As a target's listing names it. */
  readonly path: string
  /** Where its files lie. */
  readonly folder: string
  // biome-ignore lint/suspicious/noExplicitAny: a manifest is spoilt in any way
  manifest: any
  /** Puts a file with its right description into the manifest; `text` are its lines. */
  add(entity: string, text: string): void
  /** Puts other bytes in the place of a file, described rightly but for what `told` says of their contents. */
  replace(entity: string, packed: Uint8Array, told: { readonly rows: number; readonly bytes: number }): void
  /** Writes the manifest as it stands. */
  finish(): void
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

export function makeArchive(root: string, tenantId: string, jobId: string = crypto.randomUUID()): Made {
  const path = `tenants/${tenantId}/20261120T115522Z-${jobId}-1`
  const folder = join(root, path)
  mkdirSync(folder, { recursive: true })
  const manifest = {
    format: 'svc-archive',
    format_version: 1,
    kind: 'TENANT_EXPORT',
    product_version: '0.1.0',
    schema_version: '0011_job',
    tenant: { id: tenantId, slug: 'acme' },
    job_id: jobId,
    snapshot_at: '2026-11-20T11:55:22.000000Z',
    files: [] as unknown[],
    media: { count: 0, bytes: 0 },
    omitted: {},
  }
  return {
    tenantId,
    jobId,
    path,
    folder,
    manifest,
    add(entity, text) {
      const plain = Buffer.from(text)
      const packed = zstdCompressSync(plain)
      writeFileSync(join(folder, `${entity}.jsonl.zst`), packed)
      manifest.files.push({
        name: `${entity}.jsonl.zst`,
        entity,
        rows: text.split('\n').length - 1,
        bytes: plain.length,
        sha256: sha256(plain),
        compressed_bytes: packed.length,
        compressed_sha256: sha256(packed),
      })
    },
    replace(entity, packed, told) {
      writeFileSync(join(folder, `${entity}.jsonl.zst`), packed)
      const at = manifest.files.findIndex((file) => (file as { entity: string }).entity === entity)
      const sums = { compressed_bytes: packed.length, compressed_sha256: sha256(packed) }
      manifest.files[at] = { ...(manifest.files[at] as object), ...told, ...sums }
    },
    finish() {
      writeFileSync(join(folder, 'manifest.json'), JSON.stringify(this.manifest))
    },
  }
}

export const holdLine = (more: Record<string, unknown> = {}) =>
  `${JSON.stringify({ id: crypto.randomUUID(), scope_kind: 'TENANT', scope_id: null, reason: 'lawsuit', placed_by: crypto.randomUUID(), placed_at: '2026-11-01T10:00:00.123456+00:00', released_at: null, released_by: null, version: 1, ...more })}\n`
