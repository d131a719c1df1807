/** Which bases the station is compared with. */
import { Host, MountName, mayKeepLogin, Password, Port, Tls, User } from 'rtk-base/ntrip'
import { type Static, Type } from 'typebox'

export const mostNeighbours = 4

const Name = Type.String({
  pattern: '^[!-~]([ -~]{0,30}[!-~])?$',
  description: 'for people; default: mountpoint or serial',
})

const NtripNeighbour = Type.Object(
  {
    name: Type.Optional(Name),
    host: Host,
    port: Type.Optional(Port),
    mount: MountName,
    user: Type.Optional(User),
    password: Type.Optional(Password),
    version: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)], { description: 'NTRIP 1 or 2; 2' })),
    tls: Type.Optional(Tls),
    gga: Type.Optional(Type.Boolean({ description: 'send the position; default: if nothing comes without it' })),
  },
  { additionalProperties: false },
)

const MqttNeighbour = Type.Object(
  {
    name: Type.Optional(Name),
    serial: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'serial number of another rtk-base station' }),
  },
  { additionalProperties: false },
)

export const NeighbourSetting = Type.Union([NtripNeighbour, MqttNeighbour])
export type NeighbourSetting = Static<typeof NeighbourSetting>
type NtripNeighbour = Static<typeof NtripNeighbour>

export const NeighbourList = Type.Array(NeighbourSetting, {
  maxItems: mostNeighbours,
  description:
    'e.g. [{ "host": "caster.example.org", "mount": "DELF", "user": "me", "password": "…" }, { "serial": "OTHER" }]; at most 4',
})

export const isNtrip = (one: NeighbourSetting): one is NtripNeighbour => 'host' in one

export const nameOf = (one: NeighbourSetting): string => one.name ?? (isNtrip(one) ? one.mount : one.serial)

/** Where the stream comes from, without login. */
export const sourceOf = (one: NeighbourSetting): string =>
  isNtrip(one) ? `ntrip ${one.host}:${one.port ?? 2101}/${one.mount}` : `mqtt ${topicOf(one.serial)}`

export const topicOf = (serial: string): string => `base/${serial}/drtk`

/** @param serial of this station @returns why the list cannot be used; undefined: it can */
export function problemOf(list: readonly NeighbourSetting[], serial: string): string | undefined {
  const own = list.find((one) => !isNtrip(one) && one.serial === serial)
  if (own) return `${serial} is this station: name another one`
  const twice = (texts: readonly string[]) => texts.find((text, at) => texts.indexOf(text) !== at)
  const source = twice(list.map(sourceOf))
  if (source) return `${source} is listed twice`
  const name = twice(list.map(nameOf))
  return name === undefined ? undefined : `two neighbours are called ${name}: give one another name`
}

/** A missing password is the stored one, for the same host and port only, and not in plain text after TLS. */
export function completed(sent: readonly NeighbourSetting[], stored: readonly NeighbourSetting[]): NeighbourSetting[] {
  return sent.map((one) => {
    if (!isNtrip(one) || one.password !== undefined) return one
    const isSame = (other: NeighbourSetting): other is NtripNeighbour =>
      isNtrip(other) && other.password !== undefined && mayKeepLogin(other, one)
    const known = stored.filter(isSame)
    // A caster may have a login for each mountpoint.
    const { password } =
      known.find(({ mount }) => mount === one.mount) ?? known.find(({ user }) => user === one.user) ?? {}
    return password === undefined ? one : { ...one, password }
  })
}
