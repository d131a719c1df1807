import { t } from '../i18n/index.js'
import { api } from '../station/api.js'
import { Card } from './card.js'
import { useLoaded } from './loaded.js'

interface Address {
  interface: string
  url: string
  /** Of the code, in modules, and its dark ones as an SVG path. */
  size: number
  path: string
}

/** Light modules around the code: without them it is not found. */
const margin = 4
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
            <svg
              class="code"
              viewBox={`${-margin} ${-margin} ${size + 2 * margin} ${size + 2 * margin}`}
              role="img"
              aria-label={t('address.code', { url })}
            >
              <rect class="code-light" x={-margin} y={-margin} width={size + 2 * margin} height={size + 2 * margin} />
              <path class="code-dark" d={path} />
            </svg>
            <a href={url}>{url}</a>
            <span class="quiet">{name}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
