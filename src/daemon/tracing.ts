/**
 * Starts OpenTelemetry where the environment asks for it, by OTEL_EXPORTER_OTLP_ENDPOINT or its form for traces.
 *
 * Its SDK and exporter are not dependencies: whoever wants traces installs them (docs/tracing.md). The SDK reads its own
 * variables: OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, OTEL_EXPORTER_OTLP_HEADERS and the rest.
 */
import { traceWith } from '../core/kernel/tracing/tracing.ts'
import { ConfigurationError } from '../core/kernel/values/configuration-error.ts'
import { withTimeout } from '../core/kernel/values/deadline.ts'
import { productVersion } from '../core/kernel/values/product.ts'

export interface TracingInUse {
  /** Sends what waits, within two seconds, and makes no further span. */
  close(): Promise<void>
}

const packages = [
  '@opentelemetry/sdk-trace-node',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
] as const
const closeMs = 2_000

const isAsked = (env: NodeJS.ProcessEnv): boolean =>
  Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']) &&
  env['OTEL_SDK_DISABLED']?.toLowerCase() !== 'true' &&
  env['OTEL_TRACES_EXPORTER']?.toLowerCase() !== 'none'

/** Undefined where nothing asks for it. Throws ConfigurationError if the packages are missing. */
export async function startTracing(env: NodeJS.ProcessEnv): Promise<TracingInUse | undefined> {
  if (!isAsked(env)) return undefined
  const [api, sdk, exporter, resources] = await load()
  const provider = new sdk.NodeTracerProvider({
    resource: resources
      .resourceFromAttributes({ 'service.name': 'svc', 'service.version': productVersion })
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter())],
  })
  provider.register()
  const stop = traceWith(api)
  return {
    async close() {
      stop()
      await withTimeout(closeMs, provider.shutdown()).catch(() => {})
    },
  }
}

async function load() {
  try {
    return await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new ConfigurationError(
      `OTEL_EXPORTER_OTLP_ENDPOINT asks for traces, and a package for them is missing. Install them beside svc: npm install ${packages.join(' ')}`,
    )
  }
}
