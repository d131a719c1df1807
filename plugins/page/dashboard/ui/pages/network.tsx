import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { at } from '../../../../../runtime/lib/page/ui/station/document.js'
import { t } from '../i18n/index.js'
import { AddressCard } from '../parts/address-card.js'
import { SettingForm } from '../parts/forms/setting-form.js'
import { SignalCard } from '../parts/plots/signal-card.js'
import { api } from '../station/api.js'
import { document$ } from '../station/live.js'
import { ModemCard } from './network/modem.js'
import { WifiCard } from './network/wifi.js'
import { AccessPointCard, EthernetCard, type NetworkProps, RouterCard } from './network/wired.js'

const blocks = ['eth', 'wap', 'sta', 'router', 'modem'] as const
const load = () => api.parameters()

/** How the station is reached and how it reaches the internet: WiFi, cable, access point, mobile network. */
export function NetworkPage() {
  const document = document$.value
  const { value: parameters = [], again } = useLoaded(load)
  if (!document) return <p>{t('app.connecting')}</p>
  const isNone =
    blocks.every((name) => at(document, name) === undefined) && parameters.every(({ name }) => name !== 'sta-ssid')
  const props: NetworkProps = { document, parameters, again }
  return (
    <>
      {isNone && <p>{t('network.none')}</p>}
      <NameCard {...props} />
      <WifiCard document={document} parameters={parameters} />
      <ModemCard {...props} />
      <RouterCard {...props} />
      <EthernetCard {...props} />
      <AccessPointCard {...props} />
      <AddressCard />
      <SignalCard />
      <a href="#/settings?find=network">{t('network.settings')}</a>
    </>
  )
}

/** As people call the station; other devices find it by this name too. */
function NameCard({ parameters, again }: NetworkProps) {
  if (!parameters.some(({ name }) => name === 'station-name')) return null
  return (
    <Card title={t('section.station')}>
      <SettingForm
        parameters={parameters}
        settings={[{ name: 'station-name', label: t('guide.name'), help: t('guide.nameHelp') }]}
        save={t('guide.nameSave')}
        again={again}
      />
    </Card>
  )
}
