/** Every page with commands, and who follows it. `test/docs/pages.test.ts` compares this with the pages. */
import { archiveFormat, backups, backupTargets, restoring, rewinding } from './stories/archives.ts'
import { deploying } from './stories/deploying.ts'
import { ai, deliveries, search, webhooks } from './stories/integrating.ts'
import { keyring, keyringRunbook } from './stories/keys.ts'
import { lockedOut, operators, people } from './stories/people.ts'
import { privacy } from './stories/privacy.ts'
import { recovery, stuckPurge, upgrade } from './stories/recovering.ts'
import { mail, media, settings } from './stories/settings.ts'
import { signingIn } from './stories/signing-in.ts'
import type { Story } from './story.ts'

/** In this order, on one installation: what a page needs, pages before it have made. */
export const played: readonly Story[] = [
  ...[deploying, keyring, keyringRunbook, people, privacy, operators, lockedOut, settings],
  ...[webhooks, search, deliveries, ai],
  ...[backupTargets, backups, archiveFormat, rewinding, restoring, mail, media, signingIn, stuckPurge, upgrade],
]

const network = 'fetches packages from the network'

/** Other tests follow these: test/campaigns/docs-recovery.test.ts the last one. Or nothing here can. */
export const others: readonly Story[] = [
  {
    page: 'README.md',
    steps: [
      { block: 'npm ci --omit=dev && npx svc', elsewhere: 'test/campaigns/readme.test.ts' },
      { block: 'npm ci && npm test', cannot: 'is what runs this' },
      { block: '$ npx svc tenants provision --slug globex', elsewhere: 'test/campaigns/readme.test.ts' },
      { block: '$ npx svc up', elsewhere: 'test/campaigns/readme.test.ts' },
      { block: '$ npx svc tenants list', elsewhere: 'test/campaigns/readme.test.ts' },
      { block: '$ npx svc invitations redeem', elsewhere: 'test/campaigns/readme.test.ts' },
      { block: '$ npx svc tenants list --recovery', elsewhere: 'test/campaigns/readme.test.ts' },
    ],
  },
  {
    page: 'clients/typescript/README.md',
    steps: [{ block: 'npx tsc --project clients/typescript', elsewhere: 'test/clients/typescript.test.ts' }],
  },
  {
    page: 'docs/testing.md',
    steps: [
      { block: 'npm run build', cannot: 'needs Schemathesis, a package of Python' },
      { block: 'export FUZZ_GROUND', cannot: 'needs Schemathesis, a package of Python' },
      { block: 'python3 -m venv', cannot: network },
      { block: 'npx vitest run test/contract/examples.test.ts -u', elsewhere: 'test/contract/examples.test.ts' },
      { block: 'mkdir /tmp/dashboard', cannot: network },
    ],
  },
  {
    page: 'docs/tracing.md',
    steps: [
      { block: 'npm install @opentelemetry', cannot: network },
      { block: 'OTEL_EXPORTER_OTLP_ENDPOINT', elsewhere: 'test/daemon/tracing.test.ts' },
    ],
  },
  {
    page: 'docs/runbooks/moving.md',
    steps: [
      { block: 'date -u +%FT%TZ', elsewhere: 'test/campaigns/pull-restored.test.ts' },
      { block: 'psql -v ON_ERROR_STOP=1', elsewhere: 'test/campaigns/pull-restored.test.ts' },
      { block: 'svc db status', elsewhere: 'test/campaigns/pull-restored.test.ts' },
      { block: 'svc recovery begin', elsewhere: 'test/campaigns/pull-restored.test.ts' },
      { block: 'svc recovery admit', elsewhere: 'test/campaigns/pull-restored.test.ts' },
    ],
  },
  recovery,
]
