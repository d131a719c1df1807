import { censor, isSecretName } from './log/redact.js'

type Json = Record<string, unknown>

/**
 * Fields that are not for viewers: passwords (`wap.pwd`, `router.wap.pswd`, `modem.cfg.pswd`), the numbers by which a modem and its
 * SIM card can be followed (`modem.imei`, `router.sim-iccid`), and the names of networks; those of other plugins too.
 */
const privateName = /(^|[-_])(imei|imsi|iccid|msisdn|b?ssid)$/i
const isPrivate = (name: string) => isSecretName(name) || privateName.test(name)
/** Lists of the rovers, bases and clients of a station or of a fleet: who they are and where they are is their own matter. */
const peopleName = /^(rovers|bases|subscribers|clients|sta|near|accounts)$/
const personalName = /^(ip|address|mac|name|user|agent|lat|lon|dist|distance_m)$/

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const blankOf = (value: unknown): unknown => (typeof value === 'number' ? 0 : typeof value === 'string' ? '' : value)

/**
 * A document, or a part of an answer, as a viewer may read it: of the same shape, with empty texts and zeros in place of what is not
 * for viewers. Every route and stream with such values sends them through here.
 */
export const forViewer = <T>(value: T): T => blanked(value, false) as T

/** @param isPeople inside of a list of people */
function blanked(value: unknown, isPeople: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => blanked(one, isPeople))
  if (!isObject(value)) return value
  const fields = Object.entries(value).map(([name, field]) => {
    const isHidden = isPrivate(name) || (isPeople && personalName.test(name))
    const below = isPeople || (peopleName.test(name) && Array.isArray(field))
    return [name, isHidden && !isObject(field) ? blankOf(field) : blanked(field, below)]
  })
  const shown: Json = Object.fromEntries(fields)
  return { ...shown, ...(isObject(value.values) && sentencesOf(shown, value.values)) }
}

/** An error, or the verdict that it leads to, names its values in its sentences, too. */
function sentencesOf(error: Json, values: Json): Json {
  const hidden = Object.entries(values).flatMap(([name, value]) =>
    isPrivate(name) && typeof value === 'string' && value !== '' ? [value] : [],
  )
  if (hidden.length === 0) return {}
  const censored = (fields: Json) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, field]) =>
        typeof field === 'string' ? [[name, hidden.reduce((text, one) => text.replaceAll(one, censor), field)]] : [],
      ),
    )
  return { ...censored(error), values: { ...(blanked(values, false) as Json), ...censored(values) } }
}
