/** What a provider has to bring: every required member, a function where the interface has one (an event is a function), else any value. */
export type ServiceShape<T> = {
  readonly [K in RequiredKeys<T>]: T[K] extends (...args: never[]) => unknown ? 'function' : 'value'
}

type RequiredKeys<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? never : K }[keyof T]

/** A typed name under which one plugin offers a service to others. Tokens are equal by `id`. */
export interface ServiceToken<T> {
  /** With another major version than 1 it is part of the id: `'receiver@2'`. */
  readonly id: string
  /** Of the interface: members that are added raise the minor version, anything else the major one. */
  readonly version: string
  /** Who provides something else is refused; undefined: anything is taken. */
  readonly shape?: Readonly<Record<string, 'function' | 'value'>>
  /** Carries the type only; never set. */
  readonly _type?: T
}

/**
 * @param name unique, e.g. `'rtcm-stream'`; a third party prefixes its own name
 * @param contract `version` of the interface, `'1.0.0'` when left out: different major versions are different services. `shape`: its
 *   required members, checked when it is provided
 */
export function defineService<T>(
  name: string,
  { version = '1.0.0', shape }: { version?: string; shape?: ServiceShape<T> } = {},
): ServiceToken<T> {
  const major = Number.parseInt(version, 10)
  return { id: major === 1 ? name : `${name}@${major}`, version, ...(shape && { shape }) }
}

/** What a value lacks of the shape of a service, for people; `''` where it fits. Getters are not called. */
export function misfit({ shape }: Pick<ServiceToken<unknown>, 'shape'>, value: unknown): string {
  if (!shape) return ''
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null)
    return `is ${value === null ? 'null' : typeof value}, not an object`
  const wrong = Object.entries(shape).flatMap(([member, kind]) => {
    if (!(member in value)) return [`lacks ${member}`]
    const isOther = kind === 'function' && typeof (value as Record<string, unknown>)[member] !== 'function'
    return isOther ? [`has ${member}, which is no function`] : []
  })
  return wrong.join(', ')
}
