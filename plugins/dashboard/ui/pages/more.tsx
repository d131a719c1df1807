import { t } from '../i18n/index.js'
import { BlockCard } from '../parts/block.js'
import { document$ } from '../station/live.js'

/** Blocks that other pages show. */
const known = new Set(['esp', 'gnss', 'base', 'eth', 'wap', 'sta', 'udp', 'mqtt', 'ntrip', 'links', 'router', 'modem'])

/** Blocks of third-party plugins. */
export function MorePage() {
  const blocks = Object.entries(document$.value ?? {}).filter(([name]) => !known.has(name))
  if (blocks.length === 0) return <p>{t('more.none')}</p>
  return (
    <>
      {blocks.map(([name, value]) => (
        <BlockCard key={name} name={name} value={value} />
      ))}
    </>
  )
}
