/**
 * The OpenAPI document and the page that shows it.
 *
 * The page has its own script and fonts. Its content security policy forbids requests to
 * other hosts, whatever a later release of the page's package does.
 */
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Operation } from '../core/contract/operation.ts'
import { Problem } from '../core/contract/problem.ts'
import { writeJson } from '../core/kernel/values/json.ts'
import { prepared, type Turn } from './prepared.ts'

const documentPath = '/api/v1/openapi.json'

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** `turn`: of callers of the document, see prepared.ts. */
export function addReference(app: FastifyInstance, operations: readonly Operation[], turn: Turn): void {
  // Loaded at the first call: its examples and the meanings of members are 200 kB that a start does without.
  const document = prepared(async () => {
    const { openApiDocument } = await import('./openapi.ts')
    return writeJson(openApiDocument(operations))
  }, turn)
  app.get(documentPath, { config: { label: 'openapi' } }, document)
  addPage(app)
}

/**
 * The page is a second server inside this one, made at the first visit, because its package
 * needs 45 MB of memory and most daemons never serve the page.
 */
function addPage(app: FastifyInstance): void {
  let made: Promise<FastifyInstance> | undefined
  app.addHook('onClose', async () => (await made)?.close())
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const { host } = request.headers
    // The page makes a URL of the Host header, and would throw for an invalid one.
    if (!URL.canParse(`http://${host}`)) throw new Problem('request.malformed')
    made ??= makePage()
    const page = await (await made).inject({ method: 'GET', url: request.url, headers: { host } })
    if (page.statusCode === 404) throw new Problem('not_found')
    const { 'content-type': type, location } = page.headers
    reply.code(page.statusCode).header('content-security-policy', contentSecurityPolicy)
    reply.header('x-content-type-options', 'nosniff').header('content-type', type ?? 'text/html')
    if (location !== undefined) reply.header('location', location)
    return reply.send(page.rawPayload)
  }
  for (const path of ['/docs', '/docs/*']) app.get(path, { config: { label: 'docs' } }, answer)
}

async function makePage(): Promise<FastifyInstance> {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const page = fastify({ logger: false })
  await page.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: documentPath,
      pageTitle: 'svc API',
      withDefaultFonts: false,
      telemetry: false,
      // The package's online services are off, so that no documentation leaves this daemon.
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  })
  await page.ready()
  return page
}
