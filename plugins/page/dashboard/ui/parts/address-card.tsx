import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { t } from '../i18n/index.js'
import { api } from '../station/api.js'
import { QrDrawing } from './qr-code.js'

interface Address {
  interface: string
  url: string
  /** Of the code, in modules, and its dark ones as an SVG path. */
  size: number
  path: string
}

const load = () => api.get<Address[]>('/addresses')

/** Where others in the same network find this page, to be scanned. A station that only its own machine reaches has none. */
export function AddressCard() {
  const { value = [] } = useLoaded(load)
  if (value.length === 0) return null
  return (
    <Card title={t('address.title')}>
      <p class="quiet">{t('address.hint')}</p>
      <ul class="addresses">
        {value.map(({ interface: name, url, size, path }) => (
          <li key={url}>
            <QrDrawing of={{ size, path }} label={t('address.code', { url })} />
            <a href={url}>{url}</a>
            <span class="quiet">{name}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
