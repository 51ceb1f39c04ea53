/** What processes that tests start are given of our environment: where programs are and what is compiled already, and nothing that is set for us. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  return { PATH, HOME, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) }
}
