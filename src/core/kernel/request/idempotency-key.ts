/** The header Idempotency-Key: a UUID, bare or between two quotes. Spec: decisions 1, Idempotency-Key. */
import { refuse } from '../../contract/problem.ts'

const uuid = '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}'

/** The pattern of the header in the OpenAPI document: bare, or between two quotes. */
export const idempotencyKeyPattern = `^(${uuid}|"${uuid}")$`

const keyShape = new RegExp(idempotencyKeyPattern)

/** The key, quoted or bare. Refuses request.malformed for anything but a UUID. */
export function readIdempotencyKey(header: string): string {
  if (!keyShape.test(header))
    refuse('request.malformed', undefined, {
      errors: [{ parameter: 'Idempotency-Key', code: 'value.format', params: { format: 'uuid' } }],
    })
  return header.replaceAll('"', '').toLowerCase()
}
