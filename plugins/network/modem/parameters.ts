import type { ConfigKey, PluginContext } from 'rtk-base/plugin'
import { Type } from 'typebox'

export interface Parameters {
  operator: ConfigKey<number>
  /** `mob-apn` with its credentials; undefined while it is empty. */
  ownApn(): { apn: string; user: string; pswd: string } | undefined
  apnNames: string[]
}

export function defineParameters({ config }: PluginContext): Parameters {
  const operator = config.define('mobile-operator', operatorSchema, {
    default: 0,
    title: 'Mobile operator (MCC and MNC)',
  })
  const apn = config.define('mob-apn', apnSchema, { default: '', title: 'Mobile: APN' })
  const user = config.define('mob-user', credentialSchema, { default: '', title: 'Mobile: user of the APN' })
  const pswd = config.define('mob-pswd', credentialSchema, {
    default: '',
    secret: true,
    title: 'Mobile: password of the APN',
  })
  config.rule([operator.name], (get) => {
    const plmn = get(operator.name) as number
    return plmn === 0 || plmn > 100 ? undefined : '0 is automatic, an operator is MCC and MNC, such as 24603'
  })
  return {
    operator,
    ownApn: () => (apn.get() === '' ? undefined : { apn: apn.get(), user: user.get(), pswd: pswd.get() }),
    apnNames: [apn.name, user.name, pswd.name],
  }
}

const operatorSchema = Type.Integer({ minimum: 0, maximum: 999_999, description: 'MCC and MNC; 0: automatic' })
/** Description of a valid APN, for the error message. */
export const apnText = '1 to 100 printable characters without spaces'
const apnSchema = Type.String({
  maxLength: 100,
  pattern: '^[!-~]*$',
  description: `${apnText}, or empty: taken from the APN table or the router`,
})
const credentialSchema = Type.String({
  maxLength: 64,
  pattern: '^[ -~]*$',
  description: 'printable ASCII characters, or empty',
})
