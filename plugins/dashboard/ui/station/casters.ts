/** The casters that the station pushes to. Passwords are sent, never read. */
import type { Caster, SentCaster } from '../model/casters.js'
import { api, type ChangeAnswer, Refused } from './api.js'

export const casterChecks = ['resolved', 'connected', 'tls', 'login', 'mount'] as const
export type CasterCheck = (typeof casterChecks)[number]
export type CheckState = 'ok' | 'failed' | 'unknown'

/** What a test of one caster found. */
export interface CasterTested {
  /** The caster accepts the push; `code` may warn all the same. */
  ok: boolean
  code: string
  text: string
  advice: string
  checks: Readonly<Record<CasterCheck, CheckState>>
}

export const casters = {
  list: async () => (await api.get<{ casters: Caster[] }>('/ntrip-server')).casters,
  /** @throws Refused where the station does not take it */
  save: async (list: readonly SentCaster[]): Promise<void> => {
    const { result, errors = [] } = await api.send<ChangeAnswer>('PUT', '/ntrip-server', { casters: list })
    if (result === 'failed') throw new Refused(400, errors.map(({ message }) => message).join('; '))
  },
  /** Takes up to 15 s; nothing is stored. */
  test: (caster: SentCaster) => api.send<CasterTested>('POST', '/ntrip-server/test', { caster }),
}
