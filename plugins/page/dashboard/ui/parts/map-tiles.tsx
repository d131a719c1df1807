import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { t } from '../i18n/index.js'
import { api } from '../station/api.js'
import { SettingForm } from './forms/setting-form.js'

const load = () => api.parameters()

/** The server of the map under the drawing. A page has the policy of its load: it is loaded again. */
export function MapTiles() {
  const { value: parameters = [] } = useLoaded(load)
  const isMissing = !parameters.some(({ name }) => name === 'map-tiles')
  if (isMissing) return null
  return (
    <Card title={t('tiles.title')}>
      <p>{t('tiles.text')}</p>
      <SettingForm
        parameters={parameters}
        settings={[
          { name: 'map-tiles', label: t('tiles.address'), help: t('tiles.addressHelp') },
          { name: 'map-attribution', label: t('tiles.provider'), help: t('tiles.providerHelp') },
        ]}
        save={t('net.save')}
        again={async () => location.reload()}
      />
    </Card>
  )
}
