import { t } from '../i18n/index.js'
import { Card } from '../parts/card.js'
import { useLoaded, Waiting } from '../parts/loaded.js'
import { api } from '../station/api.js'

const load = () => api.plugins()

export function PluginsPage() {
  const plugins = useLoaded(load)
  return (
    <Card title={t('page.plugins')}>
      <Waiting of={plugins}>
        {(list) => (
          <table>
            <thead>
              <tr>
                <th scope="col">{t('plugins.name')}</th>
                <th scope="col">{t('plugins.state')}</th>
                <th scope="col">{t('plugins.reason')}</th>
              </tr>
            </thead>
            <tbody>
              {list.map(({ name, version, state, reason }) => (
                <tr key={name}>
                  <th scope="row">
                    {name} <span class="quiet">{version}</span>
                  </th>
                  <td class={state === 'running' ? '' : 'trouble'}>{state}</td>
                  <td>{reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Waiting>
      <p class="quiet">{t('plugins.hint')}</p>
    </Card>
  )
}
