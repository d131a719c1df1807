import { type ParseArgsConfig, parseArgs as parse } from 'node:util'
import { RtkError } from '../../errors.js'
import { nearest } from '../../platform/nearest.js'

/**
 * `parseArgs` of Node, which does not say what an unknown option was meant to be.
 * @throws RTK_ERR_USAGE for an unknown option; an error of Node (`ERR_PARSE_ARGS_…`) for other mistakes
 */
export function parseArgs<T extends ParseArgsConfig>(config: T): ReturnType<typeof parse<T>> {
  const known = Object.keys(config.options ?? {})
  const { tokens = [] } = parse({ ...config, strict: false, tokens: true })
  for (const token of tokens) {
    if (token.kind !== 'option' || known.includes(token.name)) continue
    const [like] = nearest(token.name, known)
    const hint = like === undefined ? '' : ` (did you mean "--${like}"?)`
    throw new RtkError('RTK_ERR_USAGE', `unknown option ${token.rawName}${hint}`)
  }
  return parse(config)
}
