/**
 * In single mode the installation has one workspace. If it is provisioned, that replaces the
 * set-up, which would have made the first operator; so its owner must be added as one.
 */
export const wayToOperator = (slug: string, address: string) =>
  `In single mode ${slug} is the only workspace, and the installation has no operator yet. ` +
  `After its owner has joined, run: svc operators add ${slug} ${address} --recovery --while-serving`
