/**
 * The OpenAPI 3.1 document, made from the operations' data alone.
 *
 * The possible answers of an operation follow from its declaration: its success, the
 * refusals of its `needs`, its headers and its body, those in `refuses`, and those of every
 * call. So the document promises exactly what the gate and perform() do.
 *
 * Elsewhere: schemas and their components (openapi-schemas.ts).
 * Spec: decisions 1, Roots; Errors.
 */

import { exampleFor } from '../core/contract/examples/examples.ts'
import { contentRangePattern } from '../core/contract/media/content-range.ts'
import {
  boundsOf,
  type CallBound,
  changesWaysIn,
  type Operation,
  stepUpOf,
  takesSessionOnly,
} from '../core/contract/operation.ts'
import { type ProblemCode, problems } from '../core/contract/problem.ts'
import { idempotencyKeyPattern } from '../core/kernel/request/idempotency-key.ts'
import { ifMatchPattern } from '../core/kernel/values/etag.ts'
import { tokenPattern } from '../core/kernel/values/token.ts'
import { refusalsMetBy } from './met-refusals.ts'
import { explain } from './openapi-meanings.ts'
import { oneOf, problemComponents } from './openapi-problems.ts'
import { type JsonSchema, openSchemas, type Schemas } from './openapi-schemas.ts'
import { tagGroupsOf, tagsOf } from './openapi-tags.ts'
import { webhooksOf } from './openapi-webhooks.ts'
import { bytesType, mediaTypeOf, problemType } from './refusals.ts'
import { root } from './routes.ts'

type Document = Record<string, unknown>

export function openApiDocument(operations: readonly Operation[]): Document {
  const schemas = openSchemas()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const path = `${root}${operation.path}`
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation, schemas) }
  }
  const areas = new Set(operations.map(({ area }) => area))
  const met = new Set(operations.flatMap((operation) => refusalsMetBy(operation).map(({ code }) => code)))
  const webhooks = webhooksOf(schemas)
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'svc',
      version: '1',
      summary: 'Work management for several workspaces',
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags: tagsOf(areas),
    'x-tagGroups': tagGroupsOf(areas),
    paths,
    webhooks,
    components: {
      schemas: { ...problemComponents(schemas, met), ...schemas.components() },
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A session access token (svcs_…), a personal access token (svcp_…) or a service account token (svca_…).',
        },
      },
      headers: {
        RequestId: {
          description: 'Names this call in the log; `instance` of a problem repeats it.',
          schema: { type: 'string', format: 'uuid' },
        },
      },
    },
  }
  explain(document)
  return document
}

const introduction = [
  'Answers are JSON; refusals are problem documents (RFC 9457) that carry a code and parameters and no text for people: `GET /api/v1/meta/problems` lists every code.',
  'Integers of the format int64 are exact above 2^53. Strings are answered exactly as they were sent; lengths count code points.',
  'What can be written carries `version`; its ETag is `"<version>"`.',
].join('\n\n')

function describe(operation: Operation, schemas: Schemas): Document {
  const { needs, body } = operation
  return {
    operationId: operation.id,
    tags: [operation.area],
    summary: operation.summary,
    ...(operation.deprecated ? { deprecated: true } : {}),
    description: descriptionOf(operation),
    ...(needs.caller === 'anyone' ? { security: [] } : {}),
    ...(takesTicket(operation) ? { security: [{ bearer: [] }, {}] } : {}),
    ...(parametersOf(operation, schemas).length > 0 ? { parameters: parametersOf(operation, schemas) } : {}),
    ...(body
      ? {
          requestBody: {
            required: true,
            description: bodyBoundsOf(operation),
            content: {
              [mediaTypeOf(operation)]: { schema: schemas.of(body, 'body'), ...exampleIn(operation, 'body') },
            },
          },
        }
      : operation.takes === 'bytes'
        ? {
            requestBody: {
              required: true,
              description: 'A file.',
              content: { [bytesType]: { schema: bytes, ...exampleIn(operation, 'body') } },
            },
          }
        : {}),
    responses: { ...successOf(operation, schemas), ...refusalsOf(operation) },
  }
}

/** A file has the type of its bytes; generators of clients know none behind the star, so the most general one is named as well. */
function fileOf(operation: Operation): Document {
  const file = { schema: bytes, ...exampleIn(operation, 'answer') }
  return { [bytesType]: file, '*/*': file }
}

/** What a test sent and received. */
function exampleIn(operation: Operation, part: 'body' | 'answer'): Document {
  const example = exampleFor(operation)?.[part]
  return example === undefined ? {} : { example }
}
const takesTicket = ({ needs }: Operation) => needs.caller === 'workspace' && needs.ticket === true

function bodyBoundsOf(operation: Operation): string {
  const { bytes, values } = boundsOf(operation)
  return `At most ${bytes / 1024} KiB, and ${values.toLocaleString('en')} members and elements; the configuration may say less (\`SVC_BODY_LIMIT_BYTES\`).`
}

/** For callers; what was decided where the specification is silent is for authors: docs/generated/assumed.md. */
function descriptionOf({ needs }: Operation): string {
  const lines: string[] = []
  if (needs.caller === 'anyone') lines.push(`${inWords(needs.rate.perSource)} from one source address.`)
  if (changesWaysIn(needs))
    lines.push('A session, or a token with the scope `workspace:admin`; it changes how the account itself gets in.')
  else if (takesSessionOnly(needs)) lines.push('A session; no token serves.')
  else if (needs.caller === 'account') lines.push("Any valid token; it acts on the account's own affairs.")
  if (needs.caller === 'workspace') {
    lines.push(`Needs the scope \`${needs.scope}\` and the role ${needs.role}.`)
    if (needs.ticket) lines.push('Instead of a token it takes a `ticket`.')
  }
  if (needs.caller === 'workspace or operator')
    lines.push(
      `Needs the scope \`${needs.scope}\` and the role ${needs.role}, for the workspace's own; or the scope \`admin:tenants\` and an entry in the operator register, for the installation's.`,
    )
  if (needs.caller === 'operator') {
    lines.push('Needs the scope `admin:tenants` and an entry in the operator register.')
    if (needs.whileRegisterEmpty) lines.push('While the register is empty, the scope alone.')
  }
  const stepUp = stepUpOf(needs)
  if (stepUp === 'when sent') lines.push('Takes a step-up, which is spent where it is sent.')
  else if (stepUp === 'or elevated')
    lines.push('Needs a step-up, or an elevated session; the own account always takes the step-up.')
  else if (stepUp) lines.push(`Needs a step-up${stepUp === true ? '' : ` ${stepUp.says}`}.`)
  return lines.join('\n\n')
}

const inWords = ({ calls, seconds }: CallBound) => `At most ${calls} calls in ${seconds} s`

function parametersOf(operation: Operation, schemas: Schemas): Document[] {
  const { needs } = operation
  const stepUp = stepUpOf(needs)
  return [
    ...membersOf(operation, 'path', schemas),
    ...membersOf(operation, 'query', schemas),
    ...(operation.idempotent
      ? [
          header(
            'Idempotency-Key',
            false,
            { type: 'string', pattern: idempotencyKeyPattern },
            'A UUID, bare or in quotes. A repeated request under the same key gets the first answer, for 24 hours.',
          ),
        ]
      : []),
    ...(operation.ifMatch
      ? [
          header(
            'If-Match',
            false,
            { type: 'string', minLength: 1, pattern: ifMatchPattern },
            'ETags, or `*`; the change is made only if one of them is current.',
          ),
        ]
      : []),
    ...(stepUp
      ? [
          header(
            'X-Service-Step-Up',
            stepUp === true,
            { type: 'string', pattern: tokenPattern('stepUp') },
            'A fresh step-up token; this call spends it.',
          ),
        ]
      : []),
    ...(operation.takes === 'bytes'
      ? [
          header(
            'Content-Range',
            false,
            { type: 'string', pattern: contentRangePattern },
            'Which bytes of the file these are: `bytes <first>-<last>/<size>`. Absent: the whole file.',
          ),
        ]
      : []),
    ...(operation.success.bytes
      ? [
          header(
            'Range',
            false,
            { type: 'string' },
            'One range of bytes, such as `bytes=0-1023`; 206 with these bytes.',
          ),
        ]
      : []),
    ...(operation.method === 'GET' && hasEtag(operation)
      ? [header('If-None-Match', false, { type: 'string' }, 'ETags; 304 when one of them is current.')]
      : []),
  ]
}

const header = (name: string, required: boolean, schema: JsonSchema, description: string) => ({
  name,
  in: 'header',
  required,
  description,
  schema,
})

function membersOf(operation: Operation, place: 'path' | 'query', schemas: Schemas): Document[] {
  const schema = place === 'path' ? operation.params : operation.query
  if (!schema) return []
  const sent = exampleFor(operation)?.[place === 'path' ? 'params' : 'query'] ?? {}
  const { properties = {}, required = [] } = schemas.of(schema, 'input')
  return Object.entries(properties).map(([name, member]) => {
    const { description, ...rest } = member
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
      ...(name in sent ? { example: sent[name] } : {}),
    }
  })
}

/** Whether the answer is one versioned representation, or always the same. */
const hasEtag = ({ success }: Operation) =>
  success.fixed === true ||
  success.bytes === true ||
  (success.answer !== undefined && 'shape' in success.answer && 'version' in (success.answer.shape as object))

/** A file; generators of clients want to be told. */
const bytes: JsonSchema = { type: 'string', format: 'binary' }

const requestId = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } }
const textHeader = (description: string) => ({ description, schema: { type: 'string' } })

function successOf(operation: Operation, schemas: Schemas): Document {
  const { status, answer, location } = operation.success
  const headers = {
    ...requestId,
    ...(hasEtag(operation)
      ? { ETag: textHeader(operation.success.fixed || operation.success.bytes ? 'Names the bytes.' : '`"<version>"`') }
      : {}),
    ...(location ? { Location: textHeader('Where the created thing is found.') } : {}),
    ...(operation.deprecated
      ? {
          Deprecation: textHeader('Since when another operation should be used (RFC 9745).'),
          Link: textHeader('The path of that operation, with `rel="successor-version"`.'),
        }
      : {}),
    ...(operation.idempotent
      ? { 'Idempotency-Replayed': textHeader('`true` when this is the first answer once more.') }
      : {}),
  }
  const content = operation.success.bytes
    ? { content: fileOf(operation) }
    : answer
      ? { content: { 'application/json': { schema: schemas.of(answer, 'output'), ...exampleIn(operation, 'answer') } } }
      : {}
  return {
    [status]: { description: descriptions[status], headers, ...content },
    ...(operation.success.queued
      ? {
          202: {
            description: descriptions[202],
            headers,
            content: { 'application/json': { schema: schemas.of(operation.success.queued, 'output') } },
          },
        }
      : {}),
    ...(operation.success.bytes
      ? {
          206: {
            description: 'A range of the file.',
            headers: { ...headers, 'Content-Range': textHeader('Which bytes of the file these are.') },
            ...content,
          },
        }
      : {}),
    ...(operation.method === 'GET' && hasEtag(operation)
      ? { 304: { description: 'Unchanged.', headers: requestId } }
      : {}),
  }
}

const descriptions: Record<number, string> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Queued.',
  204: 'Done; there is nothing to answer.',
}

/** The responses of every refusal the operation can meet, one for each status, naming its codes. */
function refusalsOf(operation: Operation): Document {
  const codes = new Map<number, ProblemCode[]>()
  for (const { code, status } of refusalsMetBy(operation)) {
    const known = codes.get(status) ?? []
    if (!known.includes(code)) codes.set(status, [...known, code])
  }
  const entries = [...codes].sort(([a], [b]) => a - b).map(([status, listed]) => [status, refusal(status, listed)])
  return Object.fromEntries(entries)
}

const refusal = (status: number, codes: readonly ProblemCode[]) => ({
  description: codes.map((code) => `\`${code}\` ${problems[code].says}`).join('\n\n'),
  headers: {
    ...requestId,
    ...(status === 401 ? { 'WWW-Authenticate': textHeader('How to authenticate.') } : {}),
    ...(status === 429 || status === 503 ? { 'Retry-After': textHeader('Seconds to wait.') } : {}),
    ...(status === 415
      ? {
          'Accept-Patch': textHeader('On PATCH: the media type taken.'),
          'Accept-Post': textHeader('On POST: the media type taken.'),
        }
      : {}),
  },
  content: {
    [problemType]: {
      schema: oneOf(codes),
    },
  },
})
