/** What `svc doctor` says of the mail. */
import { expect, test } from 'vitest'
import { checkMail } from '../../src/cli/doctor/host.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'
import { smtpRelay } from '../kit/smtp-relay.ts'

test('without a relay it names the folder', async () => {
  expect(await checkMail(readConfig({ SVC_DATA_DIR: '/srv/svc' }))).toMatchObject({
    state: 'ok',
    says: 'SVC_SMTP_URL is not set; mail is written to /srv/svc/mail',
  })
})

test('a relay is tried, by its place and never by its password; one that is away is a finding with a remedy', async () => {
  const relay = await smtpRelay({ allowInsecureAuth: true })
  const config = readConfig({ SVC_SMTP_URL: `smtp://svc:s3cret@127.0.0.1:${relay.port}?tls=off` })
  const place = `127.0.0.1:${relay.port}`
  expect(await checkMail(config)).toMatchObject({
    state: 'ok',
    says: `the relay ${place} answers; mail is sent from svc@localhost`,
  })
  expect(relay.taken).toEqual([])
  await relay.close()
  expect(await checkMail(config)).toEqual({
    check: 'mail',
    state: 'fail',
    says: `${place}: the relay was not reached (at CONN)`,
    remedy: 'docs/runbooks/mail.md',
  })
})
