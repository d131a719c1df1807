import { type Endpoint, failure, success } from './answer.js'

export const login: Endpoint = ({ device, data, address }) => {
  const { username, password } = data
  if (typeof username !== 'string' || typeof password !== 'string') return failure('request')
  if (!device.login(username, password, address)) return failure('login')
  if (device.faults.firstLogin) return failure('firstLogin')
  const { id, life_s } = device.tokens.create(username, device.options.sessionLife_s)
  return success({ username, group: 'root', token: id, expires: life_s - 1 })
}

export const logout: Endpoint = ({ device, session }) => {
  if (session) device.tokens.end(session.id)
  return success({ response: 'Logged out' })
}

export const sessionStatus: Endpoint = ({ session }) =>
  success({ active: session !== undefined, expires: session?.life_s })

/** Open to everybody. */
export const unauthorizedStatus: Endpoint = ({ device: { firmware, identity } }) =>
  success({
    lang: 'en',
    filename: null,
    device_name: identity.model,
    device_model: identity.model,
    api_version: '1.9',
    device_identifier: identity.serial.slice(-4),
    fw_version: firmware.version,
  })
