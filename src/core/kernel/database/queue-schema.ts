/** Schema of pg-boss's own tables; the migrations make it, the queue works in it. */
export const queueSchema = 'pgboss'
