/**
 * What every table, role and policy must be, and an offence against each rule that the
 * rule has to catch. Design of the database: one workspace's rows for one workspace, for
 * the owner of the table as well; keys that let a distributed PostgreSQL place a
 * workspace on one node.
 */
import { installationTables, workspaceTables } from '../../src/core/contract/tables.ts'
import { removalOrder } from '../../src/core/kernel/database/removal-order.ts'
import type { Catalog, Table } from './catalog.ts'

export interface Rule {
  readonly name: string
  readonly why: string
  /** Names what breaks it. */
  readonly breaks: (catalog: Catalog) => string[]
  /** Statements that break it, and what the rule then has to name. */
  readonly offence: string
  readonly named: string
}

/** Tables of workspaces that the installation's transactions may touch as well, and why. */
const openToInstallation: Readonly<Record<string, string>> = {
  account: 'who calls is looked up before the workspace is known',
  account_address: 'whoever signs in is found by an address before the look-up; ended ones are swept',
  address_confirmation: 'ended ones are swept',
  membership: 'the role is part of that look-up',
  invitation: 'the token is all that its holder has',
  session: 'ended sessions are part of that look-up',
  credential: 'the look-up itself',
  step_up: 'proofs are swept when they are over',
  second_factor: 'the gate asks whether an account has one; what nobody confirmed is swept',
  failed_sign_in: 'whoever signs in is not known before the look-up',
  password_reset: 'the token is all that its holder has',
  failed_attempt: 'failures are swept when they are over',
  sealed_value: 'the installation has secrets of its own',
  reseal: 'operators ask for it; a row holds counts and moments',
  backup_target: 'the installation has targets of its own; the policy shows it no others',
  backup: 'operators list, make and remove backups of any workspace; a row holds ids and counts',
  backup_schedule: 'the installation has schedules of its own; and where one is due is not known before the look',
  backup_run: 'the same; a row holds ids, counts and moments',
  restore:
    'operators make restores of any workspace; a row holds ids, counts and moments, and the names of a workspace to be made',
  job: 'operators follow the jobs they asked for; a job holds ids and counts',
  idempotency_record: 'operators and the operator at the database have keys too',
  tenant_quota: 'ceilings are set by operators and read at the gate',
  request_rate: 'calls are counted at the gate',
  legal_hold: 'that a hold is in force stops a purge; what it is about stays the workspace’s',
  password_opening: 'operators open and close it',
  identity_provider: 'the installation offers providers of its own; the policy shows it no others',
  provider_switch: 'how many workspaces have one of them on; the policy shows no others',
  connected_identity: 'connections go with the provider that the installation removes',
  sign_in_link: 'a link of another workspace is spent by whoever tries it',
  sign_in_challenge: 'the token is all that its holder has',
  sign_in_flow: 'who comes back from a provider is known by his flow alone',
  webhook: 'where deliveries are due is not known before the look; of a target its host is readable, and no more',
  delivery: 'the same; a delivery holds ids, states and moments',
  delivery_attempt: "the flight recorder, for operators; the target's answer is not granted",
  ai_choice: 'operators see how many workspaces use a model',
  ai_usage: 'operators see what a workspace has used of a ceiling',
  item_tally: 'operators see what a workspace has used of a ceiling',
  search_index: 'which workspaces have documents to make is not known before the look; a row holds ids and counts',
  search_pending: 'the same; a row holds ids',
  notification_pending: 'which workspaces have something to tell is not known before the look; a row holds ids',
  notification:
    'which workspaces have a mail that is due is not known before the look, and old rows are swept in all; a row holds ids',
  consent: 'a recovery asks which were withdrawn; a row holds ids, codes and hashes',
  account_restriction: 'a recovery asks which are in force; a row holds ids and a code',
  privacy_request:
    'where a deadline is near is not known before the look; of a request kind, state and moments are readable',
  privacy_package: 'the same; ids, states and moments are readable',
  privacy_search: 'the same; ids and states are readable',
  erasure: 'the same; ids and moments are readable',
  media_tally: 'operators see what a workspace has used of a ceiling',
}

/** Functions that run with the rights of their owner, and why. */
const ofTheirOwner: Readonly<Record<string, string>> = {
  make_months: 'only the owner of a table makes partitions of it; it takes no argument (docs/decisions/0523)',
  drop_month: 'and only the owner drops them; the month that runs stays, and a delivery that waits, whoever asks',
  make_attempt_partitions: 'the name of make_months() in the release before',
  drop_attempts: 'and that of drop_month(), for the months of one table',
  search_ids: 'no index serves a full-text match under row-level security (docs/decisions/0230)',
}

/** A purge removes a workspace whole; of the journal nothing is ever removed. */
const isPurgeOf = (table: string, grant: string) => table !== 'journal' && grant === 'svc_purge: DELETE'

const own = '(tenant_id = ( SELECT current_tenant() AS current_tenant))'

const isWorkspaceTable = ({ columns }: Table) => columns.some(({ name }) => name === 'tenant_id')
const ofWorkspaces = ({ tables }: Catalog) => tables.filter(isWorkspaceTable)
const names = (tables: readonly Table[]) => tables.map(({ name }) => name)
const isGranted =
  (role: string, ...privileges: string[]) =>
  ({ grants }: Table) =>
    privileges.some((privilege) => grants.includes(`${role}: ${privilege}`))
const hasAnyGrant =
  (role: string) =>
  ({ grants }: Table) =>
    grants.some((grant) => grant.startsWith(`${role}: `))

/** A table that obeys every rule, but for what a test adds to it. */
const lawful = (more = '') => `
  create table stray (tenant_id uuid not null references tenant (id), id uuid not null, primary key (tenant_id, id)${more});
  select workspace_table('stray');
  alter table stray owner to svc_owner`

/** What keeps a purge from emptying all tables, as it says it itself. */
function faultOfRemoval(tables: readonly Table[]): string[] {
  try {
    removalOrder(tables.map(({ name, references }) => ({ name, refers_to: references.map(({ target }) => target) })))
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}

export const rules: readonly Rule[] = [
  {
    name: 'row-level security is enabled and forced on every table of workspaces',
    why: 'a table without it shows every workspace to every other, and to its owner',
    breaks: (catalog) => names(ofWorkspaces(catalog).filter(({ isEnabled, isForced }) => !isEnabled || !isForced)),
    offence: `${lawful()}; alter table stray no force row level security`,
    named: 'stray',
  },
  {
    name: 'svc_tenant has one policy, for reading and writing alike: the rows of the workspace in force',
    why: 'USING alone lets a workspace write rows into another one',
    breaks: (catalog) =>
      names(
        ofWorkspaces(catalog).filter(({ policies }) => {
          const theirs = policies.filter(({ roles }) =>
            roles.some((role) => role === 'svc_tenant' || role === 'public'),
          )
          const [policy] = theirs
          return (
            theirs.length !== 1 ||
            policy?.command !== '*' ||
            policy.using !== own ||
            policy.check !== own ||
            policy.roles.length !== 1
          )
        }),
      ),
    offence: `${lawful()}; drop policy one_workspace on stray; create policy one_workspace on stray to svc_tenant using (tenant_id = (select current_tenant())) with check (true)`,
    named: 'stray',
  },
  {
    name: 'nobody else has a policy there, but svc_installation where it is listed with a reason',
    why: "an operator's transaction must not read a workspace's content",
    breaks: (catalog) =>
      names(
        ofWorkspaces(catalog).filter(({ name, policies }) =>
          policies.some(({ roles, command }) =>
            roles.some(
              (role) =>
                role !== 'svc_tenant' &&
                !(role === 'svc_installation' && openToInstallation[name] !== undefined) &&
                !(role === 'svc_search' && name === 'search_document' && command === 'r'),
            ),
          ),
        ),
      ),
    offence: `${lawful()}; create policy installation on stray to svc_installation using (true)`,
    named: 'stray',
  },
  {
    name: 'svc_installation has no right on content, nor on the trail and the events',
    why: 'the policy is one lock, the missing right the other',
    breaks: (catalog) =>
      names(
        ofWorkspaces(catalog).filter(
          (table) => openToInstallation[table.name] === undefined && hasAnyGrant('svc_installation')(table),
        ),
      ),
    offence: 'grant select (name) on container to svc_installation',
    named: 'container',
  },
  {
    name: 'the list of tables open to the installation names no table in vain',
    why: 'a list that is not read again only grows',
    breaks: ({ tables }) =>
      Object.keys(openToInstallation).filter(
        (name) => !tables.some((table) => table.name === name && hasAnyGrant('svc_installation')(table)),
      ),
    offence: 'revoke all on request_rate from svc_installation',
    named: 'request_rate',
  },
  {
    name: 'a partition stands apart, with row-level security that is forced, no policy and no right for anybody',
    why: "whoever reads a partition by its own name passes by its table's policies",
    breaks: ({ partitions }) =>
      partitions
        .filter(
          (one) => one.schema !== 'partitions' || !one.isEnabled || !one.isForced || one.policies > 0 || one.grants > 0,
        )
        .map(({ name }) => name),
    offence:
      "create table partitions.stray partition of delivery_attempt for values from ('fffffffe-0000-0000-0000-000000000000') to ('ffffffff-0000-0000-0000-000000000000')",
    named: 'stray',
  },
  {
    name: 'tenant_id is a uuid that is never null',
    why: 'NULL belongs to no workspace and is seen by none',
    breaks: (catalog) =>
      names(
        ofWorkspaces(catalog).filter(({ columns }) =>
          columns.some(({ name, type, isRequired }) => name === 'tenant_id' && !(type === 'uuid' && isRequired)),
        ),
      ),
    offence: 'create table stray (tenant_id uuid)',
    named: 'stray',
  },
  {
    name: 'primary keys and unique indexes begin with tenant_id',
    why: 'a key across workspaces tells one of them what another has, and cannot be distributed',
    breaks: (catalog) =>
      ofWorkspaces(catalog).flatMap(({ name, indexes }) => [
        ...(indexes.some(({ isPrimary }) => isPrimary) ? [] : [name]),
        ...indexes.filter(({ isUnique, columns }) => isUnique && columns[0] !== 'tenant_id').map((index) => index.name),
      ]),
    offence: `${lawful()}; create unique index stray_by_id on stray (id)`,
    named: 'stray_by_id',
  },
  {
    name: 'foreign keys between tables of workspaces carry tenant_id on both sides',
    why: "a row must not hang on another workspace's row",
    breaks: (catalog) =>
      ofWorkspaces(catalog).flatMap(({ references }) =>
        references
          .filter(({ columns, target, targetColumns }) => {
            const place = columns.indexOf('tenant_id')
            return place === -1 || targetColumns[place] !== (target === 'tenant' ? 'id' : 'tenant_id')
          })
          .map(({ name }) => name),
      ),
    offence: `create unique index only_for_this on account (id); ${lawful(', owner uuid constraint stray_owner references account (id)')}`,
    named: 'stray_owner',
  },
  {
    name: 'of every table of workspaces somebody says what an export makes of it',
    why: "a table that is not listed stops every purge and is missing from archives: write NAME: { export: 'entity' } or NAME: { export: { omitted: 'why' } } into workspaceTables in src/core/contract/tables.ts",
    breaks: (catalog) => {
      const there = names(ofWorkspaces(catalog))
      const listed = Object.keys(workspaceTables)
      return [...there.filter((name) => !listed.includes(name)), ...listed.filter((name) => !there.includes(name))]
    },
    offence: lawful(),
    named: 'stray',
  },
  {
    name: 'foreign keys leave an order in which a purge empties the tables',
    why: 'each is emptied before those that it refers to; a circle has no beginning',
    breaks: (catalog) => faultOfRemoval(ofWorkspaces(catalog)),
    offence:
      'alter table container add constraint backwards foreign key (tenant_id, id) references label (tenant_id, id)',
    named:
      'Foreign keys form a circle, so no order empties these tables: container refers to label refers to container. Drop one of the keys.',
  },
  {
    name: 'every other table is listed with why it holds no content',
    why: 'a table without tenant_id is seen by every operator',
    breaks: ({ tables }) => {
      const there = names(tables.filter((table) => !isWorkspaceTable(table)))
      const listed = Object.keys(installationTables)
      return [...there.filter((name) => !listed.includes(name)), ...listed.filter((name) => !there.includes(name))]
    },
    offence: 'create table stray (id uuid primary key)',
    named: 'stray',
  },
  {
    name: 'no triggers',
    why: 'what a change does stands in its rule; and distributed tables have none',
    breaks: ({ tables }) => tables.flatMap(({ name, triggers }) => triggers.map((trigger) => `${name}.${trigger}`)),
    offence: `create function nothing() returns trigger language plpgsql as 'begin return new; end';
      create trigger stray before insert on label for each row execute function nothing()`,
    named: 'label.stray',
  },
  {
    name: 'no enums and no numerics',
    why: 'their comparisons are not leakproof, so under row-level security no index serves them',
    breaks: ({ tables }) =>
      tables.flatMap(({ name, columns }) =>
        columns
          .filter(({ kind, type }) => kind === 'e' || type.startsWith('numeric'))
          .map((column) => `${name}.${column.name}`),
      ),
    offence: "create type mood as enum ('good'); alter table label add column mood mood",
    named: 'label.mood',
  },
  {
    name: 'the trail and the events are append-only but for the purge, the journal for everybody',
    why: 'evidence that can be changed is none',
    breaks: ({ tables }) =>
      names(
        tables.filter(
          ({ name, grants }) =>
            ['audit_entry', 'outbox_event', 'journal'].includes(name) &&
            grants.some((grant) => /: (UPDATE|DELETE|TRUNCATE)$/.test(grant) && !isPurgeOf(name, grant)),
        ),
      ),
    offence: 'grant update (params) on journal to svc_installation',
    named: 'journal',
  },
  {
    name: 'a workspace reads of the installation its own row, the gate and the ceilings, and nothing else',
    why: 'the register of workspaces is not theirs to see',
    breaks: ({ tables }) =>
      names(
        tables.filter((table) => {
          if (isWorkspaceTable(table)) return false
          const [only] = table.policies.filter(({ roles }) => roles.includes('svc_tenant'))
          const mayChange = table.grants.some(
            (grant) => grant.startsWith('svc_tenant: ') && grant !== 'svc_tenant: SELECT',
          )
          // Two columns of it: test/recovery/gate.test.ts.
          if (table.name === 'installation') return mayChange
          if (table.name === 'setting')
            return mayChange || only?.command !== 'r' || only.using !== "(name ~~ 'quotas.%'::text)"
          if (table.name !== 'tenant') return hasAnyGrant('svc_tenant')(table)
          return (
            mayChange ||
            !table.isForced ||
            only?.command !== 'r' ||
            only.using !== '(id = ( SELECT current_tenant() AS current_tenant))'
          )
        }),
      ),
    offence: 'grant select on operator to svc_tenant',
    named: 'operator',
  },
  {
    name: 'no role empties a table, refers to one or hangs a trigger on it, and the queue has none of ours',
    why: 'TRUNCATE asks no policy',
    breaks: ({ tables }) =>
      names(
        tables.filter(
          (table) =>
            ['svc_tenant', 'svc_installation', 'svc_purge', 'svc_daemon', 'public'].some((role) =>
              isGranted(role, 'TRUNCATE', 'REFERENCES', 'TRIGGER')(table),
            ) ||
            hasAnyGrant('svc_queue')(table) ||
            hasAnyGrant('public')(table),
        ),
      ),
    offence: 'grant truncate on label to svc_tenant',
    named: 'label',
  },
  {
    name: 'nothing runs with the rights of whoever made it, but what is listed with a reason',
    why: 'a function of its owner passes by every policy of its caller',
    breaks: ({ privileged }) => privileged.filter((name) => ofTheirOwner[name] === undefined),
    offence: 'create function stray() returns integer language sql security definer return 1',
    named: 'stray',
  },
  {
    name: 'everybody has no right in the schema',
    why: 'a login of somebody else on the same server is not ours',
    breaks: ({ publicRights }) => [...publicRights],
    offence: 'grant usage on schema public to public',
    named: 'USAGE',
  },
  {
    name: "the daemon's login owns nothing, bypasses nothing, inherits nothing, and may be the five roles",
    why: 'a transaction that names no role can do nothing at all',
    breaks: ({ roles, tables }) => {
      const login = roles.find(({ name }) => name === 'svc_daemon')
      if (!login) return ['there is no svc_daemon']
      const { isSuperuser, bypassesPolicies, inherits, mayCreate, owns, memberOf } = login
      const isWrong =
        isSuperuser ||
        bypassesPolicies ||
        inherits ||
        mayCreate ||
        memberOf.join() !== 'svc_installation,svc_purge,svc_queue,svc_staging,svc_tenant'
      const granted = tables.filter(hasAnyGrant('svc_daemon')).map(({ name }) => name)
      return [...(isWrong ? ['svc_daemon'] : []), ...owns, ...granted.filter((name) => name !== 'pgmigrations')]
    },
    offence: 'create table stray (id uuid primary key); alter table stray owner to svc_daemon',
    named: 'stray',
  },
  {
    name: 'svc_search reads documents, and nothing else; nobody may become it',
    why: 'what runs as it passes by the policies of its caller',
    breaks: ({ roles, tables }) => {
      const role = roles.find(({ name }) => name === 'svc_search')
      if (!role) return ['there is no svc_search']
      const { mayLogIn, isSuperuser, bypassesPolicies, mayCreate, owns, memberOf } = role
      const isWrong = mayLogIn || isSuperuser || bypassesPolicies || mayCreate || owns.length > 0 || memberOf.length > 0
      const members = roles.filter(({ memberOf: of }) => of.includes('svc_search')).map(({ name }) => name)
      const granted = tables.flatMap(({ name, grants }) =>
        grants.filter((grant) => grant.startsWith('svc_search: ')).map((grant) => `${name} ${grant}`),
      )
      return [
        ...(isWrong ? ['svc_search'] : []),
        ...members.filter((name) => name === 'svc_daemon' || name === 'svc_tenant'),
        ...granted.filter((grant) => grant !== 'search_document svc_search: SELECT'),
      ]
    },
    offence: 'grant select on item to svc_search',
    named: 'item svc_search: SELECT',
  },
  {
    name: 'svc_staging owns its own schema, where rows of archives lie, and has no right on a table of workspaces',
    why: 'COPY into a table with row-level security is refused, so its tables are those of a role that sees no other',
    breaks: ({ roles, tables }) => {
      const role = roles.find(({ name }) => name === 'svc_staging')
      if (!role) return ['there is no svc_staging']
      const { mayLogIn, isSuperuser, bypassesPolicies, mayCreate, owns, memberOf } = role
      const isWrong = mayLogIn || isSuperuser || bypassesPolicies || mayCreate || owns.length > 0 || memberOf.length > 0
      return [
        ...(isWrong ? ['svc_staging'] : []),
        ...tables.flatMap(({ name, grants }) =>
          grants.filter((grant) => grant.startsWith('svc_staging: ')).map((grant) => `${name} ${grant}`),
        ),
      ]
    },
    offence: 'grant select on item to svc_staging',
    named: 'item svc_staging: SELECT',
  },
  {
    name: 'the four roles log in nowhere, own nothing and are nobody else, but for the purge, which is a workspace that may remove itself',
    why: 'they are what a transaction becomes, never who comes',
    breaks: ({ roles }) =>
      roles
        .filter(({ name }) => ['svc_tenant', 'svc_installation', 'svc_queue', 'svc_purge'].includes(name))
        .filter(
          (role) =>
            role.mayLogIn ||
            role.isSuperuser ||
            role.bypassesPolicies ||
            role.mayCreate ||
            role.owns.length > 0 ||
            role.memberOf.join() !== (role.name === 'svc_purge' ? 'svc_tenant' : ''),
        )
        .map(({ name }) => name),
    offence: 'create table stray (id uuid primary key); alter table stray owner to svc_tenant',
    named: 'svc_tenant',
  },
]
