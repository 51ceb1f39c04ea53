export * from './client.ts'
export type * from './generated.ts'
export * from './webhook.ts'
