import type { Static, TSchema } from 'typebox'
import { HttpSection, InfoSection, NetSection, TrialSection } from '../../../schemas/index.js'
import type { RtkError } from '../../errors.js'
import { resolveOptions, type SetOption } from '../options.js'
import type { RuntimeOptions } from '../runtime-options.js'

/** The sections of the variant that the runtime itself reads. */
export interface Sections {
  readonly http: HttpSection
  readonly net: NetSection
  readonly info: InfoSection
  readonly trial: TrialSection
  /** A section that is wrong has its defaults until they are shown, together with the mistakes of the plugins. */
  readonly mistakes: readonly RtkError[]
}

export function readSections({ variant, sets }: RuntimeOptions): Sections {
  const mistakes: RtkError[] = []
  const section = <S extends TSchema>(name: 'http' | 'net' | 'info' | 'trial', schema: S): Static<S> => {
    const resolve = (given: object, set: readonly SetOption[]) =>
      resolveOptions(name, schema, given as Record<string, unknown>, set, [name], 'RTK_ERR_VARIANT') as Static<S>
    try {
      return resolve(variant[name] ?? {}, sets?.get(name) ?? [])
    } catch (error) {
      mistakes.push(error as RtkError)
      return resolve({}, [])
    }
  }
  return {
    http: section('http', HttpSection),
    net: section('net', NetSection),
    info: section('info', InfoSection),
    trial: section('trial', TrialSection),
    mistakes,
  }
}
