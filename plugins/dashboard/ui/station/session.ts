/** Whether somebody is logged in here, and whether the page asks for it. */
import { signal } from '@preact/signals'

export interface Session {
  role: 'none' | 'viewer' | 'operator'
  login: boolean
  expires: number
}

/** Needed: the station answers nothing else, as nobody is logged in or the session has ended. Chosen: by the person. */
export const loginWanted = signal<'' | 'needed' | 'chosen'>('')
export const session = signal<Session | undefined>(undefined)
