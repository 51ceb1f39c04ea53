/**
 * Single mode: the one workspace is the installation. One that was provisioned before the
 * set-up takes its place, so that its owner becomes an operator by the register alone.
 */
export const wayToOperator = (slug: string, address: string) =>
  `In single mode ${slug} is the installation's one workspace, and nobody administers it yet. ` +
  `Once its owner has joined: svc operators add ${slug} ${address} --recovery --while-serving`
