/**
 * A person's settings for a service (their own variant, the arguments of `run`) and the replacement if they cannot be
 * used. The launcher decides: `RTK_BASE_SETTINGS` is `kept` after the settings were refused three times, `safe` after
 * the kept settings were refused too. Settings that ran well are kept in ROOT/kept.json.
 */
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Static, Type } from 'typebox'
import { messageOf } from '../../../errors.js'
import { disk } from '../../../platform/files/disk.js'
import { replaceFileSync } from '../../../platform/files/durable-file.js'
import { readRecordSync } from '../../../platform/files/plain-file.js'
import { StateFile } from '../../../platform/files/state-file.js'
import type { Logger } from '../../../platform/log/log.js'
import type { Notice } from '../../../platform/standing-errors.js'
import { parseVariant, readVariant, type VariantFile } from '../variant-file.js'

/** Arguments of `run` that may come from the person. */
const Arguments = Type.Object({ set: Type.Array(Type.String()), change: Type.Array(Type.String()), log: Type.String() })
export type Arguments = Static<typeof Arguments>

const Kept = Type.Object({
  ...Arguments.properties,
  /** The person's variant; default: that of the slot. */
  variant: Type.Optional(Type.Object({ file: Type.String(), text: Type.String() })),
})

/** The settings of a start. */
export interface Settings extends Arguments {
  readonly file: VariantFile
  /** Receivers are only listened to. */
  readonly careful: boolean
  /** Set if these are not the person's current settings: tells why. */
  readonly notice?: Notice
}

type Env = NodeJS.ProcessEnv

/**
 * The folder of the launcher, if systemd's unit started the service: there the output of a command line goes unseen.
 */
export function serviceRoot({ RTK_BASE_ROOT: root, RTK_BASE_VARIANT: variant }: Env = process.env): string | undefined {
  return root && variant !== undefined ? root : undefined
}

/**
 * The settings of this start.
 * @param variant the person's own file; undefined: that of the slot
 * @param raw the arguments as given, parsable or not
 * @throws RTK_ERR_VARIANT the person's settings cannot be read, and the launcher has not yet selected a replacement
 */
export function settingsOf(
  variant: string | undefined,
  given: Arguments,
  env: Env = process.env,
  raw: readonly string[] = given.set,
): Settings {
  const root = serviceRoot(env)
  if (root === undefined) return { ...given, file: readVariant(variant), careful: false }
  const { RTK_BASE_SETTINGS: mode = '' } = env
  const kept = mode === 'safe' ? undefined : keptIn(root)
  if (mode === '') return unlessLost(root, { ...given, file: readVariant(variant), careful: false }, kept, env)
  if (kept) {
    // The login that is refused with the rest was meant to stand.
    const open = !hasLogin(kept) && mentionsLogin(variant, raw)
    const where = open ? ', on this machine only, as the login that was set is not in them' : ''
    const reason = `the settings were refused three times: those that ran before are used${where}`
    return {
      ...kept,
      ...(open && { set: [...kept.set, loopback] }),
      notice: { code: 'settings-refused', values: { reason } },
    }
  }
  const reason =
    'the settings were refused three times, and none that ran before can be used: HTTP answers on this machine only, and the receiver is not configured'
  return { ...nothing, file: readVariant(), careful: true, notice: { code: 'settings-refused', values: { reason } } }
}

const loopback = 'http.host=127.0.0.1'
const nothing: Arguments = { set: [loopback], change: [], log: 'info' }

/** A lost file must not lift the login that it required: that needs an explicit step. */
function unlessLost(root: string, now: Settings, kept: Settings | undefined, env: Env): Settings {
  if (!kept || !hasLogin(kept) || hasLogin(now)) return now
  const lostVariant = kept.file.file !== now.file.file && now.file.file === readVariant().file
  const lostOptions = kept.set.length > 0 && env.RTK_BASE_OPTIONS === undefined
  if (!lostVariant && !lostOptions) return now
  const what = lostVariant ? `the variant ${kept.file.file}` : 'RTK_BASE_OPTIONS in /etc/default/rtk-base'
  const reason = `${what} is missing, and with it the login: the settings that ran before are used`
  return { ...kept, notice: { code: 'settings-missing', values: { reason, _file: keptFile(root).path } } }
}

const isLogin = (set: string) => /^http\.(viewerT|t)oken=/.test(set)
const hasLogin = ({ set, file }: Settings) => set.some(isLogin) || file.variant.http?.token !== undefined

/** Whether settings that cannot be read have a login: a word is enough. */
function mentionsLogin(variant: string | undefined, raw: readonly string[]): boolean {
  return (
    raw.some((text) => /token=/i.test(text)) || (variant !== undefined && /token/i.test(textOf(variant) ?? 'token'))
  )
}

const keptFile = (root: string) => new StateFile(Kept, join(root, 'kept.json'))

/** Undefined where there are none, or none that this version can use. */
function keptIn(root: string): Settings | undefined {
  try {
    const { value } = keptFile(root).readSync()
    if (!value) return undefined
    const { variant, ...given } = value
    return { ...given, file: variant ? parsed(variant) : readVariant(), careful: false }
  } catch {
    return undefined
  }
}

function parsed({ file, text }: { file: string; text: string }): VariantFile {
  return { variant: parseVariant(text, file), file, text, base: join(file, '..') }
}

/**
 * A start has run long enough to count as good: earlier failures are forgotten, and the person's settings for it are
 * kept. Nothing is written where nothing changes.
 */
export function startProven(root: string, { file, notice, ...settings }: Settings, log: Logger): void {
  try {
    forgetEnds(root, notice !== undefined)
    if (notice) return
    const { set, change, log: level } = settings
    const isOwn = file.file !== readVariant().file
    const kept = { set, change, log: level, ...(isOwn && { variant: { file: file.file, text: file.text } }) }
    const record = keptFile(root)
    if (!isDeepStrictEqual(record.readSync().value, kept)) record.writeSync(kept)
  } catch (error) {
    log.warn({ err: error }, `the settings that ran well could not be kept: ${messageOf(error)}`)
  }
}

/** @param refused what was refused still is: only the ends of the slot are forgotten */
function forgetEnds(root: string, refused: boolean): void {
  const file = join(root, 'exits')
  const text = refused ? textOf(file) : undefined
  const left = text?.replace(/^count=.*$/m, 'count=0')
  if (!refused) disk.rmSync(file, { recursive: true, force: true })
  else if (left !== undefined && left !== text) replaceFileSync(file, left)
}

function textOf(file: string): string | undefined {
  try {
    return readRecordSync(file)
  } catch {
    return undefined
  }
}

/** The reason why the launcher started a slot other than the one confirmed last. */
export function slotNotice({ RTK_BASE_FALLBACK: why = '', RTK_BASE_SLOT: slot = '' }: Env = process.env): Notice[] {
  const runs = slot === 'f' ? 'the version of the package runs' : `slot ${slot} runs`
  if (why === 'state') {
    const reason = `the record of the slots is lost or damaged, so the good slot is unknown: ${runs}`
    return [{ code: 'slot-state-lost', values: { reason } }]
  }
  if (!/^[abf]$/.test(why)) return []
  const which = why === 'f' ? 'the version of the package' : `slot ${why}`
  const reason = `${which} is damaged and was not started: ${runs}`
  return [{ code: 'slot-damaged', values: { reason, _package: why === 'f' } }]
}
