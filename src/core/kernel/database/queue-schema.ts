/** The schema of pg-boss's own tables: the migrations make it, the queue works in it. */
export const queueSchema = 'pgboss'

/** The jobs that mail somebody. Operators list them (areas/mail/queued-mails.ts); test/mail/queued-mails.test.ts holds the names to the jobs. */
export const mailJobs = [
  'send_mail',
  'send_invitation',
  'send_password_reset',
  'send_address_confirmation',
  'send_notification',
  'tell_administrators',
  'tell_ai_notice',
] as const

/** Which of them have not gone; a query that says the same is served by the indexes below (areas/mail/queued-mails.ts). */
const isOpenMail = `name in (${mailJobs.map((name) => `'${name}'`).join(', ')}) and state in ('created', 'retry', 'active', 'failed')`

/**
 * Indexes of ours on pg-boss's table, for the list of mails. Most of its rows are jobs that have ended, or no mails, and
 * have no entry here. A change of `mailJobs` needs new names: an index that is there already is left as it is.
 */
export const queueIndexes = `
  create index if not exists svc_open_mails_in_order on ${queueSchema}.job_common (created_on desc, id desc) where ${isOpenMail};
  create index if not exists svc_open_mails_by_workspace on ${queueSchema}.job_common ((data ->> 'tenantId'), created_on desc, id desc)
    where ${isOpenMail};
  -- Those of before knew fewer jobs.
  drop index if exists ${queueSchema}.svc_mails_in_order, ${queueSchema}.svc_mails_by_workspace;`
