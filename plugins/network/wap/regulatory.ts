import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { networkErrors, type Radio, type Regulatory } from 'rtk-base/services'
import type { Parameters } from './parameters.js'

/** `wifi-reg-cc` and its rules. */
export class RegulatoryDomain {
  readonly #ctx: PluginContext
  readonly #parameters: Parameters
  #rules: Regulatory | undefined
  /** The country before one was set. */
  #original: string | undefined

  constructor(ctx: PluginContext, parameters: Parameters) {
    this.#ctx = ctx
    this.#parameters = parameters
    const { channel, country } = parameters
    ctx.config.rule([channel.name], (get) => {
      // Another country in the same change has other rules: validated once they apply.
      if (this.#rules === undefined || get(country.name) !== country.get()) return undefined
      return this.refusal(get(channel.name) as number)
    })
  }

  /** Undefined while it could not be read. */
  get rules(): Regulatory | undefined {
    return this.#rules
  }

  /** Why a channel cannot be used; undefined when it can, or when that is not known. */
  refusal(channel: number): string | undefined {
    const { country, maxChannel } = this.#rules ?? {}
    if (maxChannel === undefined || maxChannel === 0 || channel <= maxChannel) return undefined
    return `channel ${channel} is not allowed for an access point in country ${country}: the highest one is ${maxChannel} (wifi-reg-cc sets the country)`
  }

  /** The channel that is used: the wanted one, or the highest that is allowed. */
  channel(): number {
    const wanted = this.#parameters.channel.get()
    const refusal = this.refusal(wanted)
    const { maxChannel = wanted, country = '' } = this.#rules ?? {}
    const values = { channel: wanted, country, highest_channel: maxChannel, _refusal: refusal ?? '' }
    this.#ctx.errors.while('wap-channel', refusal !== undefined && values)
    return refusal === undefined ? wanted : maxChannel
  }

  /** Applies the country. @throws RTK_ERR_NETWORK if the machine rejects it */
  async apply(radio: Radio): Promise<void> {
    await this.read(radio)
    const wanted = this.#parameters.country.get() || this.#original
    if (wanted === undefined || this.#rules?.country === wanted) return
    this.#original ??= this.#rules?.country
    await radio.tools.setCountry(wanted)
    await this.read(radio)
    const { country } = this.#rules ?? {}
    // Digits mean the world or several countries, as in some drivers; letters mean one country.
    if (country !== undefined && /^[A-Z]{2}$/.test(country) && country !== wanted)
      throw new RtkError(
        networkErrors.RTK_ERR_NETWORK,
        `the radio keeps the rules of country ${country}: its driver has rules of its own, and wifi-reg-cc does not change them`,
      )
    this.#ctx.log.info({ country: wanted }, 'the rules of the country are applied')
  }

  /** @throws RTK_ERR_NETWORK */
  async read(radio: Radio): Promise<void> {
    const { name } = radio.accessPoint
    const phy = name === '' ? undefined : (await radio.tools.interface(name)).phy
    this.#rules = await radio.tools.regulatory(phy)
  }
}
