/**
 * Provisioning: a new workspace, ready for its owner.
 *
 * One transaction writes the workspace, its owner as an invited account, a hub with an
 * example collection, buckets and labels in its language, the invitation, the trail, the
 * events, the journal and the job that ends the invitation; or nothing. The statements do
 * not wait for each other's answers: they are pipelined on one connection. If one statement
 * fails, the transaction fails.
 *
 * Spec: Admin: workspaces, rule 1; decisions 4, ProvisionedTenant.
 */

import type { Answer, Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { tenantOperations as ops } from '../../contract/tenants/operations.ts'
import type { NewEvent } from '../../kernel/outbox/event-row.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { caseFold } from '../../kernel/values/case-fold.ts'
import { newId } from '../../kernel/values/id.ts'
import { knownLocale, knownTimeZone } from '../../kernel/values/locale.ts'
import { timeNow } from '../../kernel/values/time.ts'
import { type MintedToken, mintToken } from '../../kernel/values/token.ts'
import { writeWords } from '../access/account-words.ts'
import { writeFirstAddress } from '../access/addresses.ts'
import { endInvitation } from '../auth/sign-in/jobs.ts'
import type { Settings } from '../settings/settings.ts'
import { readTenant } from './list.ts'
import { labelColors, starterContentFor } from './starter-content.ts'

/** Host names that an installation needs for itself. */
const reservedSlugs = new Set(['www', 'api', 'admin', 'app', 'mail', 'static'])

export interface NewTenant {
  readonly id: string
  readonly slug: string
  readonly displayName: string
  readonly locale: string
  readonly timeZone: string
}

export interface NewOwner {
  readonly accountId: string
  readonly email: string
  readonly displayName: string | null
  /** Set up at once with a password, or invited. */
  readonly passwordHash: string | null
}

export interface Board {
  readonly hubId: string
  readonly collectionId: string
}

/**
 * Provisions a workspace. The installation's localisation is the default.
 * Refuses request.invalid, admin.slug_taken, admin.multi_mode_required.
 */
export async function provisionTenant(
  ctx: Ctx,
  { body }: Received<typeof ops.provisionTenant>,
  localisation: Settings['localisation'],
): Promise<Answer<typeof ops.provisionTenant>> {
  const tenant = await newTenant(ctx, body, localisation)
  const owner = {
    accountId: newId(),
    email: body.owner_email,
    displayName: body.owner_display_name ?? null,
    passwordHash: null,
  }
  const invitation = {
    id: newId(),
    ...mintToken('invitation'),
    expiresAt: new Date(timeNow() + ctx.config.invitationDays * 86_400_000),
  }

  // First and awaited (see `enqueue`), so that its statement leaves in the packet of the others.
  await ctx.enqueue(
    endInvitation,
    { tenantId: tenant.id, invitationId: invitation.id },
    { startAfter: invitation.expiresAt },
  )
  // All in one packet; a refusal rolls back the whole transaction.
  const [, , board, provisioned] = await Promise.all([
    refuseBlockedSlug(ctx, tenant.slug),
    ctx.journal('tenant.provisioned', tenant),
    createWorkspace(ctx, tenant, owner, invitation),
    readTenant(ctx.tx, tenant.slug),
  ])

  return {
    tenant: provisioned,
    owner: { account_id: owner.accountId, email: owner.email, display_name: owner.displayName },
    redemption_token: invitation.token,
    redemption_expires_at: invitation.expiresAt.toISOString(),
    hub_id: board.hubId,
    collection_id: board.collectionId,
  }
}

/** Refuses admin.slug_taken for the slug of a workspace that was purged not long ago. */
export async function refuseBlockedSlug({ tx }: Ctx, slug: string): Promise<void> {
  const [blocked] = await tx`select 1 from blocked_slug where slug = ${slug} and until > now()`
  if (blocked) refuse('admin.slug_taken')
}

/** Checks the workspace's members and fills in the defaults. Refuses request.invalid, admin.multi_mode_required. */
export async function newTenant(
  ctx: Ctx,
  asked: {
    slug: string
    display_name: string
    default_locale?: string | null | undefined
    default_time_zone?: string | null | undefined
  },
  localisation: Settings['localisation'],
  pointer = '',
): Promise<NewTenant> {
  if (reservedSlugs.has(asked.slug)) refuseMember(`${pointer}/slug`, 'slug.reserved')
  const locale = knownLocale(asked.default_locale ?? localisation.locale, `${pointer}/default_locale`)
  const timeZone = knownTimeZone(asked.default_time_zone ?? localisation.time_zone, `${pointer}/default_time_zone`)

  if (ctx.config.mode === 'single') {
    // Two concurrent calls would both find the installation empty, so its one row is the lock.
    await ctx.tx`select 1 from installation for update`
    const [first] = await ctx.tx`select 1 from tenant limit 1`
    if (first) refuse('admin.multi_mode_required')
  }
  return { id: newId(), slug: asked.slug, displayName: asked.display_name, locale, timeZone }
}

interface NewInvitation extends MintedToken {
  readonly id: string
  readonly expiresAt: Date
}

/** Writes the workspace and its starter content. An owner with a password needs no invitation. */
export async function createWorkspace(
  ctx: Ctx,
  tenant: NewTenant,
  owner: NewOwner,
  invitation?: NewInvitation,
): Promise<Board> {
  const board = boardFor(tenant)
  const { tx } = ctx
  const created = tx`
    insert into tenant (id, slug, display_name, default_locale, default_time_zone)
    values (${tenant.id}, ${tenant.slug}, ${tenant.displayName}, ${tenant.locale}, ${tenant.timeZone})`
  ctx.makesWorkspace(tenant.id)
  const furnished = ctx.inWorkspaceAtOnce(tenant.id, () => [
    writeOwner(ctx, tenant, owner, invitation),
    writeBoard(ctx, board),
    ctx.audit('tenant.provisioned', {
      subject: { kind: 'tenant', id: tenant.id },
      params: { containers: board.containers.length, owner: owner.accountId },
    }),
    ctx.emit(tenantEvent(tenant), ownerEvent(owner), ...boardEvents(board)),
  ])
  await Promise.all([created, furnished])
  return board
}

const stateOf = (owner: NewOwner) => (owner.passwordHash === null ? 'INVITED' : 'ACTIVE')

/** Writes an owner, invited or with a password. */
export async function writeOwner(
  ctx: Ctx,
  tenant: Pick<NewTenant, 'id'>,
  owner: NewOwner,
  invitation?: NewInvitation,
): Promise<void> {
  const { tx } = ctx
  await Promise.all([
    tx`
      insert into account (tenant_id, id, kind, state, email, email_fold, display_name, password_hash, joined_at)
      values (${tenant.id}, ${owner.accountId}, 'PERSON', ${stateOf(owner)}, ${owner.email}, ${caseFold(owner.email)}, ${owner.displayName}, ${owner.passwordHash},
              ${owner.passwordHash === null ? null : tx.part`now()`})`,
    writeFirstAddress(
      ctx,
      { tenantId: tenant.id, accountId: owner.accountId },
      { email: owner.email, isConfirmed: owner.passwordHash !== null },
    ),
    writeWords(ctx, tenant.id, owner.accountId, { display_name: owner.displayName, email: owner.email }),
    tx`insert into membership (tenant_id, id, account_id, role) values (${tenant.id}, ${newId()}, ${owner.accountId}, 'OWNER')`,
    invitation &&
      tx`
        insert into invitation (tenant_id, id, account_id, hash, expires_at)
        values (${tenant.id}, ${invitation.id}, ${owner.accountId}, ${invitation.hash}, ${invitation.expiresAt})`,
  ])
}

/** The ranks of the first siblings; later siblings get ranks between or behind these. */
const firstRanks = ['a0', 'a1', 'a2', 'a3'] as const

/** A hub with an example collection, its buckets and labels, in the workspace's language. */
function boardFor(tenant: NewTenant) {
  const [hubId, collectionId] = [newId(), newId()]
  const starterContent = starterContentFor(tenant.locale)
  const [rank] = firstRanks
  const inWorkspace = { tenant_id: tenant.id }
  const inCollection = { ...inWorkspace, container_id: collectionId }
  return {
    hubId,
    collectionId,
    containers: [
      { ...inWorkspace, id: hubId, kind: 'HUB' as const, parent_id: null, name: starterContent.hub, rank },
      {
        ...inWorkspace,
        id: collectionId,
        kind: 'COLLECTION' as const,
        parent_id: hubId,
        name: starterContent.collection,
        rank,
      },
    ],
    buckets: starterContent.buckets.map((name, index) => ({
      ...inCollection,
      id: newId(),
      name,
      name_fold: caseFold(name),
      rank: firstRanks[index] ?? 'a9',
      is_done_bucket: index === starterContent.buckets.length - 1,
    })),
    labels: starterContent.labels.map((name, index) => ({
      ...inCollection,
      id: newId(),
      name,
      name_fold: caseFold(name),
      color_token: labelColors[index] ?? 'gray',
    })),
  }
}

type StarterBoard = ReturnType<typeof boardFor>

async function writeBoard({ tx }: Ctx, { containers, buckets, labels }: StarterBoard): Promise<void> {
  await Promise.all([
    tx`insert into container ${tx.rows(containers, 'tenant_id', 'id', 'kind', 'parent_id', 'name', 'rank')}`,
    tx`insert into bucket ${tx.rows(buckets, 'tenant_id', 'container_id', 'id', 'name', 'name_fold', 'rank', 'is_done_bucket')}`,
    tx`insert into label ${tx.rows(labels, 'tenant_id', 'container_id', 'id', 'name', 'name_fold', 'color_token')}`,
  ])
}

const tenantEvent = ({ id, slug }: NewTenant): NewEvent => ({
  name: 'work.tenant.provisioned',
  data: { id, slug, state: 'ACTIVE' },
})

const ownerEvent = (owner: NewOwner): NewEvent => ({
  name: owner.passwordHash === null ? 'identity.account.invited' : 'identity.account.joined',
  data: { id: owner.accountId, kind: 'PERSON', state: stateOf(owner), role: 'OWNER' },
})

function boardEvents({ collectionId, containers, buckets, labels }: StarterBoard): NewEvent[] {
  return [
    ...containers.map(
      ({ id, kind, parent_id, name }): NewEvent => ({
        name: 'work.container.created',
        data: { id, kind, parent_id, name },
      }),
    ),
    ...buckets.map(
      ({ id, name, is_done_bucket }): NewEvent => ({
        name: 'work.bucket.created',
        data: { id, container_id: collectionId, name, is_done_bucket },
      }),
    ),
    ...labels.map(
      ({ id, name, color_token }): NewEvent => ({
        name: 'work.label.created',
        data: { id, container_id: collectionId, name, color_token },
      }),
    ),
  ]
}
