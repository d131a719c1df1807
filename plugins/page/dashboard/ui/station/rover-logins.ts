/** The logins of rovers at the caster of the station. */
import type { RoverLoginList } from '../model/rover-login.js'
import { api } from './api.js'

const url = (name: string) => `/ntrip-caster/users/${encodeURIComponent(name)}`

export const roverLogins = {
  list: () => api.get<RoverLoginList>('/ntrip-caster/users'),
  set: (name: string, password: string) => api.send<unknown>('PUT', url(name), { password }),
  remove: (name: string) => api.get<unknown>(url(name), { method: 'DELETE' }),
}
