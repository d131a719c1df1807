/** The casters that the station pushes to, and the one that it gets corrections from. Passwords are sent, never read. */

import { change, withBody } from '../../../../../runtime/lib/page/ui/http.js'
import type { Caster, CorrectionSource, SentCaster, SentSource } from '../model/casters.js'
import { api } from './api.js'

export const casterChecks = ['resolved', 'connected', 'tls', 'login', 'mount'] as const
export type CasterCheck = (typeof casterChecks)[number]
export type CheckState = 'ok' | 'failed' | 'unknown'

/** Result of a test of one caster. */
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
  /** @throws ValuesRefused */
  save: (list: readonly SentCaster[]) => change('/ntrip-server', withBody('PUT', { casters: list })),
  /** Takes up to 15 s; nothing is stored. */
  test: (caster: SentCaster) => api.send<CasterTested>('POST', '/ntrip-server/test', { caster }),
}

/** Result of a test of a source of corrections. */
export interface SourceTested {
  /** Observations arrive; `code` may warn all the same. */
  ok: boolean
  code: string
  text: string
  /** `''`: none. */
  mount: string
  /** To its base, m; -1: unknown. */
  distance: number
  messages: readonly number[]
}

export const source = {
  read: async () => (await api.get<{ source: CorrectionSource }>('/ntrip-client')).source,
  /** @throws ValuesRefused */
  save: (sent: SentSource) => change('/ntrip-client', withBody('PUT', { source: sent })),
  /** Takes up to 22 s; nothing is stored. */
  test: (sent: SentSource) => api.send<SourceTested>('POST', '/ntrip-client/test', { source: sent }),
}
