/** Required members of a service: `function` for methods and events, `value` for anything else. */
export type ServiceShape<T> = {
  readonly [K in RequiredKeys<T>]: T[K] extends (...args: never[]) => unknown ? 'function' : 'value'
}

type RequiredKeys<T> = { [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? never : K }[keyof T]

/** A typed name under which one plugin offers a service to others. Tokens are equal by `id`. */
export interface ServiceToken<T> {
  /** Includes the major version unless it is 1: `'receiver@2'`. */
  readonly id: string
  /** Version of the interface: added members raise the minor version, any other change the major version. */
  readonly version: string
  /** The required members. A provider that lacks one is refused; undefined: anything is accepted. */
  readonly shape?: Readonly<Record<string, 'function' | 'value'>>
  /** Carries the type only; never set. */
  readonly _type?: T
}

/**
 * @param name unique, e.g. `'rtcm-stream'`. A third party puts its own name in front
 * @param version version of the interface, default `'1.0.0'`: different major versions are different services
 * @param shape name of each required member → `'function'` or `'value'`, checked when the service is provided
 */
export function defineService<T>(
  name: string,
  { version = '1.0.0', shape }: { version?: string; shape?: ServiceShape<T> } = {},
): ServiceToken<T> {
  const major = Number.parseInt(version, 10)
  return { id: major === 1 ? name : `${name}@${major}`, version, ...(shape && { shape }) }
}

/** Mismatch between a value and the shape of a service, for people; `''` if it fits. Getters are not called. */
export function misfit({ shape }: Pick<ServiceToken<unknown>, 'shape'>, value: unknown): string {
  if (!shape) return ''
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null)
    return `is ${value === null ? 'null' : typeof value}, not an object`
  const wrong = Object.entries(shape).flatMap(([member, kind]) => {
    if (!(member in value)) return [`lacks ${member}`]
    const isOther = kind === 'function' && typeof (value as Record<string, unknown>)[member] !== 'function'
    return isOther ? [`has ${member}, which is not a function`] : []
  })
  return wrong.join(', ')
}
