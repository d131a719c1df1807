import { duration, figure, moment, t } from '../i18n/index.js'
import { isDuration, isTime, unitOf } from '../model/network-units.js'
import { AddressCard } from '../parts/address-card.js'
import { BlockCard } from '../parts/block.js'
import { SignalCard } from '../parts/plots/signal-card.js'
import { at } from '../station/document.js'
import { document$ } from '../station/live.js'

const blocks = ['eth', 'wap', 'sta', 'router', 'modem'] as const

/** Never show passwords on a page that may be left open; the settings show whether one is set. */
const secret = /^(pwd|pswd|password)$/
/** The history of the modem is a curve, not a table. */
const long = /^(history|scan)$/

function shown(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) =>
      long.test(name) ? [] : [[name, secret.test(name) && one !== '' ? '•••' : shown(one)]],
    ),
  )
}

function read(path: string, value: unknown): string | undefined {
  if (typeof value === 'boolean') return t(value ? 'links.yes' : 'links.no')
  if (typeof value !== 'number') return undefined
  if (isTime(path)) return moment(value)
  if (isDuration(path)) return duration(value)
  const unit = unitOf(path)
  return unit === '' ? undefined : figure(value, Number.isInteger(value) ? 0 : 1, unit)
}

/** Cable, access point, WiFi uplink, router and modem. */
export function NetworkPage() {
  const found = blocks.filter((name) => at(document$.value, name) !== undefined)
  return (
    <>
      {found.length === 0 && <p>{t('network.none')}</p>}
      <AddressCard />
      {found.map((name) => (
        <BlockCard key={name} name={t(`network.${name}`)} value={shown(at(document$.value, name))} read={read} />
      ))}
      <SignalCard />
      <a href="#/settings">{t('network.settings')}</a>
    </>
  )
}
