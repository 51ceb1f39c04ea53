/**
 * The OpenAPI document and the page that shows it.
 *
 * The page brings its own script and fonts; its content security policy keeps the
 * browser from asking any other host, whatever the page's package does in a later release.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { writeJson } from '../core/json.ts'
import type { Operation } from '../core/operation.ts'
import { Problem } from '../core/problem.ts'
import { isUnchanged } from './mount.ts'
import { openApiDocument } from './openapi.ts'

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

export function addReference(app: FastifyInstance, operations: readonly Operation[]): void {
  // Made at the first request: nobody should wait for it at the start.
  let made: { readonly text: string; readonly etag: string } | undefined
  const document = () => {
    if (made) return made
    const text = writeJson(openApiDocument(operations))
    made = { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` }
    return made
  }

  app.get(documentPath, { config: { label: 'openapi' } }, (request, reply) => {
    const { text, etag } = document()
    reply.header('etag', etag).header('cache-control', 'no-cache')
    if (isUnchanged(request.headers['if-none-match'], etag)) return reply.code(304).send()
    return reply.header('content-type', 'application/json; charset=utf-8').send(text)
  })

  app.register(async (scope) => {
    const { default: reference } = await import('@scalar/fastify-api-reference')
    scope.addHook('onRequest', (request, reply, done) => {
      reply.header('content-security-policy', contentSecurityPolicy).header('x-content-type-options', 'nosniff')
      // The page makes a URL of the Host header, and would throw on what is none.
      done(URL.canParse(`http://${request.headers.host}`) ? undefined : new Problem('request.malformed'))
    })
    await scope.register(reference, {
      routePrefix: '/docs',
      configuration: {
        url: documentPath,
        pageTitle: 'svc API',
        withDefaultFonts: false,
        telemetry: false,
        // None of the package's own services: what is documented here stays here.
        hideClientButton: true,
        showDeveloperTools: 'never',
        agent: { disabled: true },
        mcp: { disabled: true },
      },
    })
  })
}
