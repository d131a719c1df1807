/** A typed name under which one plugin offers a service to others. Tokens are equal by `id`. */
export interface ServiceToken<T> {
  readonly id: string
  /** Carries the type only; never set. */
  readonly _type?: T
}

/** @param id unique, e.g. `'rtcm-stream'`; a third party prefixes its own name. */
export function defineService<T>(id: string): ServiceToken<T> {
  return { id }
}
