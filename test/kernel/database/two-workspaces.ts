/**
 * Two workspaces behind row-level security, a load on both, and the oracles.
 *
 * Each operation writes two rows in one transaction, waiting in between with the
 * transaction open. The second row takes its workspace from the transaction's setting, as
 * a statement does that strayed into another transaction, and says in `author` whose it
 * was meant to be. Row-level security cannot see the difference; the oracle does.
 */
import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type postgres from 'postgres'
import { DatabaseUnavailable, type Tx } from '../../../src/core/kernel/database/pool.ts'

export const workspaces = ['aaaaaaaa-0000-4000-8000-00000000000a', 'bbbbbbbb-0000-4000-8000-00000000000b'] as const
export type Workspace = (typeof workspaces)[number]

/** The text that puts a transaction into a workspace. */
export const into = (workspace: string): string => `set local role svc_probe; set local app.tenant_id = '${workspace}'`

/** Makes the table, the role and the login, which owns nothing and bypasses nothing. */
export async function makeWorkspaces(superuser: postgres.Sql): Promise<void> {
  await superuser.unsafe(`
    create role svc_login login noinherit;
    create role svc_probe nologin;
    grant svc_probe to svc_login;
    create table ledger (
      tenant_id uuid not null,
      id uuid not null,
      operation uuid not null,
      author uuid not null,
      primary key (tenant_id, id)
    );
    alter table ledger enable row level security;
    alter table ledger force row level security;
    create policy one_workspace on ledger
      using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
      with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
    grant select, insert on ledger to svc_probe, svc_login;
  `)
}

/** Runs work in a transaction of a workspace. */
export type Transact = (
  workspace: Workspace,
  work: (tx: Pick<Tx, never> & Statements) => Promise<void>,
) => Promise<void>

/** What the load needs of a handle; the driver's own offers it too. */
export type Statements = (strings: TemplateStringsArray, ...values: string[]) => Promise<readonly object[]>

export interface Load {
  /** Operations by workspace, acknowledged or not. */
  readonly acknowledged: Map<string, Workspace>
  readonly failed: Map<string, Workspace>
  /** Rows or settings of the other workspace that were seen. */
  readonly foreign: string[]
  /** Failures that were no DatabaseUnavailable. */
  readonly strange: unknown[]
  /** Ends the load and waits for its last operation. */
  stop(): Promise<void>
}

/** Starts `workers` that write and read in turn until stopped; each waits 0 to `waitMs` inside its transaction. */
export function startLoad(transact: Transact, workers: number, waitMs: number): Load {
  const load = { acknowledged: new Map(), failed: new Map(), foreign: [], strange: [] } as Omit<Load, 'stop'>
  let going = true

  async function worker(number: number): Promise<void> {
    const workspace = workspaces[number % 2]!
    while (going) {
      const operation = randomUUID()
      try {
        await transact(workspace, (tx) => operate(tx, operation, workspace, waitMs, load.foreign))
        load.acknowledged.set(operation, workspace)
      } catch (error) {
        load.failed.set(operation, workspace)
        if (!(error instanceof DatabaseUnavailable)) load.strange.push(error)
        await pause(1) // a refusal at once must not starve everybody else
      }
    }
  }

  const running = Array.from({ length: workers }, (_, number) => worker(number))
  return {
    ...load,
    stop: async () => {
      going = false
      await Promise.all(running)
    },
  }
}

async function operate(tx: Statements, operation: string, workspace: Workspace, waitMs: number, foreign: string[]) {
  await tx`insert into ledger (tenant_id, id, operation, author)
    values (${workspace}, ${randomUUID()}, ${operation}, ${workspace})`
  await pause(randomInt(waitMs + 1))
  await tx`insert into ledger (tenant_id, id, operation, author)
    values (current_setting('app.tenant_id')::uuid, ${randomUUID()}, ${operation}, ${workspace})`
  const seen = (await tx`
    select current_setting('app.tenant_id') as setting, current_user as role, tenant_id
    from ledger order by id desc limit 20`) as { setting: string; role: string; tenant_id: string }[]
  for (const { setting, role, tenant_id } of seen) {
    if (setting !== workspace || tenant_id !== workspace || role !== 'svc_probe') {
      foreign.push(`${workspace} saw ${tenant_id} under ${setting} as ${role}`)
    }
  }
}

export interface Verdict {
  /** Rows that were written into a workspace by the other one's work. */
  readonly strayed: number
  /** Acknowledged operations that do not have exactly their two rows. */
  readonly lost: number
  /** Failed operations that have anything but none or both of their rows. */
  readonly torn: number
  /** Rows nobody remembers having written. */
  readonly spurious: number
}

/** Compares the table with what the load believes. */
export async function verdict(superuser: postgres.Sql, { acknowledged, failed }: Load): Promise<Verdict> {
  const rows = await superuser<{ operation: string; author: string; tenant_id: string }[]>`
    select operation, author, tenant_id from ledger`
  const counted = new Map<string, number>()
  for (const { operation } of rows) counted.set(operation, (counted.get(operation) ?? 0) + 1)
  const count = (operation: string) => counted.get(operation) ?? 0

  return {
    strayed: rows.filter(({ author, tenant_id }) => author !== tenant_id).length,
    lost: [...acknowledged.keys()].filter((operation) => count(operation) !== 2).length,
    torn: [...failed.keys()].filter((operation) => ![0, 2].includes(count(operation))).length,
    spurious: [...counted.keys()].filter((operation) => !acknowledged.has(operation) && !failed.has(operation)).length,
  }
}

export const clean: Verdict = { strayed: 0, lost: 0, torn: 0, spurious: 0 }

/** Counts what would have ended the process. */
export function watchProcess(): { readonly uncaught: unknown[]; stop(): void } {
  const uncaught: unknown[] = []
  const note = (error: unknown) => uncaught.push(error)
  process.on('uncaughtExceptionMonitor', note)
  process.on('unhandledRejection', note)
  return {
    uncaught,
    stop: () => {
      process.off('uncaughtExceptionMonitor', note)
      process.off('unhandledRejection', note)
    },
  }
}
