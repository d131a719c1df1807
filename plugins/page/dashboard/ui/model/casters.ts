/** Casters to push to: what is known of the common ones, and the form of one. Pure. */

import { passwordPattern, userPattern } from '../../../../../runtime/lib/ntrip/login-characters.js'
import { hostOf, hostPattern } from '../../../../../runtime/platform/address/host-name.js'

export const presetNames = ['rtk2go', 'onocoy', 'centipede', 'own'] as const
export type PresetName = (typeof presetNames)[number]

/** The entered form. */
export interface CasterForm {
  readonly host: string
  readonly port: string
  readonly mount: string
  readonly user: string
  readonly password: string
  readonly version: 1 | 2
  readonly tls: boolean
}

const empty: CasterForm = { host: '', port: '2101', mount: '', user: '', password: '', version: 1, tls: false }

/** Addresses and protocols as their operators publish them; the password of Centipede is the same for everyone. */
export const presets: Readonly<Record<PresetName, CasterForm>> = {
  rtk2go: { ...empty, host: 'rtk2go.com' },
  onocoy: { ...empty, host: 'servers.onocoy.com', version: 2 },
  centipede: { ...empty, host: 'crtk.net', password: 'centipede' },
  own: empty,
}

/** The preset that a stored caster was made from. */
export const presetOf = (host: string): PresetName =>
  presetNames.find((name) => name !== 'own' && presets[name].host === host.toLowerCase()) ?? 'own'

/** A caster of the station's list. Fields that the form does not show are kept as they are. */
export interface Caster {
  readonly host: string
  readonly port?: number
  readonly mount: string
  readonly user?: string
  readonly version?: 1 | 2
  readonly tls?: boolean
  readonly enabled?: boolean
  /** A password is stored. */
  readonly set?: boolean
  readonly echo?: { readonly user: string; readonly set?: boolean }
}
/** As it is sent: without a password the stored one of the same caster stays. */
export type SentCaster = Omit<Caster, 'set'> & { readonly password?: string }

/** Where corrections for a survey-in come from; `host` empty: nowhere. */
export interface CorrectionSource extends Omit<Caster, 'mount' | 'enabled' | 'echo'> {
  readonly mount?: string
  /** The station sends its position; left out: where the source table asks for it. */
  readonly gga?: boolean
}
export type SentSource = Omit<CorrectionSource, 'set'> & { readonly password?: string }

export const sourceForm = ({ host, mount = '', user = '', version = 2, ...rest }: CorrectionSource): CasterForm => ({
  ...empty,
  ...{ host, mount, user, version },
  port: String(port(rest)),
  tls: rest.tls ?? false,
})

/** @param before the stored source: what the form does not show stays, as long as it is the same caster */
export function sourceFrom({ password, ...form }: CasterForm, before: CorrectionSource): SentSource {
  return {
    ...(before.gga !== undefined && before.host === form.host && { gga: before.gga }),
    ...{ host: form.host, port: Number(form.port), mount: form.mount, version: form.version, tls: form.tls },
    ...(form.user !== '' && { user: form.user }),
    ...(password !== '' && { password }),
  }
}

/** An empty password means the stored one, which goes to no other host. */
export const keepsSourcePassword = (form: CasterForm, before: CorrectionSource): boolean =>
  before.set === true && before.host === form.host && String(port(before)) === form.port.trim()

const port = ({ port: own = 2101 }: Pick<Caster, 'port'>) => own
export const nameOf = (caster: Pick<Caster, 'host' | 'port' | 'mount'>) =>
  `${caster.host}:${port(caster)}/${caster.mount}`

export type CasterField = 'host' | 'port' | 'mount' | 'user' | 'password'
export type CasterTroubles = Partial<Record<CasterField, 'missing' | 'host' | 'port' | 'mount' | 'user' | 'password'>>

/** A pasted address without its scheme and path; a port in it belongs in the field of the port. */
export function cleanHost(text: string): { host: string; port?: string } {
  const bare = hostOf(text)
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/\/.*$/, '')
  // An IPv6 address has more colons, and brackets where a port follows.
  const [, host, port] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(bare) ?? []
  return host && port ? { host: hostOf(host), port } : { host: hostOf(bare) }
}

const pattern = new RegExp(hostPattern, 'u')
const validUser = new RegExp(userPattern, 'u')
const validPassword = new RegExp(passwordPattern, 'u')

/** @param keepsPassword an empty password means the stored one */
export const troublesOf = (form: CasterForm, keepsPassword: boolean): CasterTroubles =>
  wrongFields(
    // NTRIP 1 has no user name for a push.
    form.version === 2 ? form : { ...form, user: '' },
    form.version === 2 ? ['mount', 'user'] : ['mount'],
    keepsPassword,
  )

/**
 * The wrong fields of a source of corrections: the station finds the nearest mountpoint itself, and many casters need
 * no login.
 */
export const sourceTroublesOf = (form: CasterForm): CasterTroubles => wrongFields(form, [], true)

function wrongFields(form: CasterForm, needed: readonly CasterField[], mayLackPassword: boolean): CasterTroubles {
  const troubles: CasterTroubles = {}
  const { host, mount, password, user } = form
  const port = Number(form.port)
  if (host === '') troubles.host = 'missing'
  else if (!pattern.test(host)) troubles.host = 'host'
  if (!/^\d{1,5}$/.test(form.port.trim()) || port < 1 || port > 65_535) troubles.port = 'port'
  if (mount !== '' && !/^[A-Za-z0-9_.-]{1,100}$/.test(mount)) troubles.mount = 'mount'
  if (!validUser.test(user)) troubles.user = 'user'
  if (password === '' && !mayLackPassword) troubles.password = 'missing'
  else if (!validPassword.test(password)) troubles.password = 'password'
  for (const field of needed) if (form[field as 'mount' | 'user'] === '') troubles[field] = 'missing'
  return troubles
}

/** NTRIP 1 has no user name. @param before the stored caster that is edited */
export function casterFrom(form: CasterForm, before?: Caster): SentCaster {
  const { host, mount, password, tls, user, version } = form
  const { user: _user, ...kept } = before ? unset(before) : ({} as Partial<SentCaster>)
  return {
    ...kept,
    ...{ host, port: Number(form.port), mount, version, tls },
    ...(version === 2 && { user }),
    ...(password !== '' && { password }),
  }
}

export const formOf = (caster: Caster): CasterForm => ({
  host: caster.host,
  port: String(port(caster)),
  mount: caster.mount,
  user: caster.user ?? '',
  password: '',
  version: caster.version ?? 1,
  tls: caster.tls ?? false,
})

/** The station gives a stored password to no other host, and to another mountpoint only where it has one caster there. */
export function keepsPassword(form: CasterForm, before: Caster | undefined, all: readonly Caster[]): boolean {
  const isThere = (one: Caster) => one.host === form.host && String(port(one)) === form.port.trim()
  if (before?.set !== true || !isThere(before)) return false
  return before.mount === form.mount || all.filter(isThere).length === 1
}

function unset({ set: _set, echo, ...rest }: Caster): SentCaster {
  return echo ? { ...rest, echo: { user: echo.user } } : rest
}

/** The list with one caster changed, added (`before` undefined) or removed (`after` undefined); the others as they are. */
export function listWith(
  all: readonly Caster[],
  before: Caster | undefined,
  after: SentCaster | undefined,
): readonly SentCaster[] {
  const name = before && nameOf(before)
  const others = all.flatMap((one) => (nameOf(one) !== name ? [unset(one)] : after ? [after] : []))
  return before === undefined && after ? [...others, after] : others
}

export const switched = (caster: Caster, enabled: boolean): SentCaster => ({ ...unset(caster), enabled })
