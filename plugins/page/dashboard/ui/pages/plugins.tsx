import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import type { PluginReport } from '../../../../../schemas/station.js'
import { t } from '../i18n/index.js'
import { BlockCard } from '../parts/block.js'
import { api } from '../station/api.js'
import { document$ } from '../station/live.js'

const load = () => api.plugins()

export function PluginsPage() {
  const plugins = useLoaded(load)
  return (
    <Card title={t('page.plugins')} isPage>
      <Waiting of={plugins}>
        {(list) => (
          <DataTable
            label={t('page.plugins')}
            rows={list}
            keyOf={({ name }: PluginReport) => name}
            columns={[
              { name: t('plugins.name'), isHead: true, cell: ({ name, version }) => `${name} ${version}` },
              {
                name: t('plugins.state'),
                cell: ({ state }) => <span class={state === 'running' ? '' : 'trouble'}>{state}</span>,
              },
              { name: t('plugins.reason'), cell: ({ reason }) => reason },
            ]}
          />
        )}
      </Waiting>
      <p class="quiet">{t('plugins.hint')}</p>
    </Card>
  )
}

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
