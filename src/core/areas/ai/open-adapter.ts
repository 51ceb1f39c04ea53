/** From an offered model to its adapter. */
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { Adapter, OpenedModel } from './adapter.ts'
import { localRuntime } from './adapters/local-runtime.ts'
import { noop } from './adapters/noop.ts'
import { vendorCompatible } from './adapters/vendor-compatible.ts'
import { exchangeWith } from './exchange.ts'

/** `deadlineMs` bounds each call; if absent, the default of exchange.ts applies. */
export async function openAdapter(
  installation: Installation,
  model: OpenedModel,
  deadlineMs?: number,
): Promise<Adapter> {
  switch (model.kind) {
    case 'NOOP':
      return noop
    case 'VENDOR_COMPATIBLE':
      return vendorCompatible(exchangeWith(await installation.egress(), model, deadlineMs), model)
    case 'LOCAL_RUNTIME':
      return localRuntime(exchangeWith(await installation.egress(), model, deadlineMs), model)
  }
}
