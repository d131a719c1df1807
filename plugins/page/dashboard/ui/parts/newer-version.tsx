import { useState } from 'preact/hooks'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { moment, t } from '../i18n/index.js'
import { api } from '../station/api.js'
import { SettingForm } from './forms/setting-form.js'

/** Of `POST /check-update`. */
interface CheckedVersion {
  readonly version: string
  readonly isNewer: boolean
  /** UTC seconds; 0: unknown. */
  readonly date: number
  readonly url: string
}

const load = () => api.parameters()

/** Looks for a newer version at the address that the operator has set, when somebody asks. */
export function NewerVersion() {
  const { value: parameters = [], again } = useLoaded(load)
  const [found, setFound] = useState<CheckedVersion>()
  const address = parameters.find(({ name }) => name === 'update-url')
  if (!address) return null
  const isSet = address.value !== ''
  const form = (
    <SettingForm
      parameters={parameters}
      settings={[{ name: 'update-url', label: t('newer.address'), help: t('newer.addressHelp') }]}
      save={t('net.save')}
      again={() => {
        setFound(undefined)
        return again()
      }}
    />
  )
  return (
    <Card title={t('newer.title')}>
      {isSet && (
        <Action
          label={t('newer.check')}
          isMain={!found?.isNewer}
          run={async () => {
            setFound(undefined)
            const answer = await api.post<CheckedVersion>('/check-update')
            setFound(answer)
            return answer.isNewer ? '' : t('newer.none', { version: answer.version })
          }}
        />
      )}
      {found?.isNewer && (
        <div class="preview" role="status">
          <p>
            <Tone tone="good">
              {found.date > 0
                ? t('newer.foundOf', { version: found.version, date: moment(found.date) })
                : t('newer.found', { version: found.version })}
            </Tone>
          </p>
          <Action
            label={t('newer.install', { version: found.version })}
            caution={<p>{t('update.cost')}</p>}
            isMain
            run={() => api.run('firmware', { url: found.url })}
          />
        </div>
      )}
      {isSet ? (
        <details>
          <summary>{t('newer.change')}</summary>
          {form}
        </details>
      ) : (
        <>
          <p>{t('newer.text')}</p>
          {form}
        </>
      )}
    </Card>
  )
}
