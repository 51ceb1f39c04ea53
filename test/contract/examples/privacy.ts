/** Privacy: what people ask about their data, and how it is answered. */
import { bootInstallation } from '../../../src/core/app/boot.ts'
import { runPrivacy } from '../../../src/core/areas/privacy/jobs.ts'
import { consents } from './people.ts'
import type { Scene } from './scene.ts'

async function worked({ daemon }: Scene): Promise<void> {
  const booted = await bootInstallation(daemon.config, { works: false, applicationName: 'svc examples' })
  await runPrivacy.run(booted.installation, {}).finally(() => booted.close())
}

export async function privacy(scene: Scene): Promise<void> {
  const { show, ask, alan, ada, collectionId, steady, sql } = scene
  // The end of a day, which is not as far from every hour.
  steady.hold({ due_at: '2027-04-01T23:59:59.999Z' })
  const made = await show(
    'openPrivacyRequest',
    { body: { kind: 'ACCESS', details: 'Everything since 2024, please.' } },
    alan,
  )
  const at = { requestId: made.id }
  await show('listPrivacyRequests', { state: 'RECEIVED', size: 2 })
  steady.hold({ due_at: '2027-05-01T23:59:59.999Z' })
  await show('extendPrivacyRequest', {
    ...at,
    body: { months: 1, reason: 'COMPLEX', text: 'The files of two years have to be looked through.' },
  })
  await show('changePrivacyRequest', { ...at, body: { handler_id: ada.accountId, decision: 'GRANTED' } })
  await worked(scene)
  const [stored] = await sql<{ sha256: string }[]>`select sha256 from privacy_package`
  steady.rename(stored!.sha256, '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08')
  steady.hold({ size_bytes: 4_128 })
  await show('getPrivacyRequest', at)
  await show('getPrivacyPackage', at, alan)
  await ask('createItem', { body: { container_id: collectionId, title: 'Ask Alan Turing for the figures' } })
  const erasure = await ask('openPrivacyRequest', { body: { kind: 'ERASURE' } }, alan)
  await worked(scene)
  const preview = await ask('getErasurePreview', { requestId: erasure.id })
  steady.rename(preview.hash, 'h3p9.1c0ffee5ca1ab1e5')
  await show('getErasurePreview', { requestId: erasure.id })
  await consents(scene)
}
