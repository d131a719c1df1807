import { isReadOnly } from '../../../../../../runtime/lib/page/ui/http.js'
import { Action } from '../../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, FigureList, Tone } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { useSubmit } from '../../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { at, type Json, listAt, numberAt, textAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { figure, t, word } from '../../i18n/index.js'
import { dbmText } from '../../i18n/lengths.js'
import { mobileStrength, type Operator, technologyOf } from '../../model/wifi.js'
import { SettingForm } from '../../parts/forms/setting-form.js'
import { api } from '../../station/api.js'
import type { NetworkProps } from './wired.js'

/** The mobile network: how it is, its APN and its operator. */
export function ModemCard({ document, parameters, again }: NetworkProps) {
  if (at(document, 'modem') === undefined) return null
  const of = (name: string) => textAt(document, `modem.state.${name}`)
  const isConnected = of('data') === 'connected'
  const rssi = numberAt(document, 'modem.state.rssi') ?? 0
  const sim = textAt(document, 'modem.sim.state')
  const pending = listAt<string>(document, 'modem.state.pending')
  const apn = textAt(document, 'modem.cfg.apn')
  return (
    <Card title={t('network.modem')}>
      <p class="large">
        <Tone tone={isConnected ? 'good' : 'warning'}>
          {t(isConnected ? 'modem.up' : 'modem.down', { operator: of('operator') || t('modem.nobody') })}
        </Tone>
      </p>
      {sim !== '' && sim !== 'ready' && <p class="trouble">{word('modem.sim', sim)}</p>}
      {pending.map((one) => (
        <p key={one} role="status">
          {word('modem.pending', one)}
        </p>
      ))}
      <FigureList
        rows={[
          [t('modem.technology'), of('connection_type')],
          [t('net.signal'), rssi !== 0 && `${t(`net.strength.${mobileStrength(rssi)}`)} (${dbmText(rssi)})`],
          [t('modem.network'), word('modem.network', of('network'))],
          [t('modem.apn'), apn],
          [
            t('modem.temperature'),
            at(document, 'modem.state.temp_valid') === true && figure(numberAt(document, 'modem.state.temp'), 0, '°C'),
          ],
          [t('modem.type'), [textAt(document, 'modem.manuf'), textAt(document, 'modem.model')].join(' ').trim()],
        ]}
      />
      <details>
        <summary>{t('modem.apnChange')}</summary>
        <p>{t('modem.apnHelp', { apn: apn || '–' })}</p>
        <SettingForm
          parameters={parameters}
          settings={[
            { name: 'mob-apn', label: t('modem.apn') },
            { name: 'mob-user', label: t('modem.user') },
            { name: 'mob-pswd', label: t('modem.password') },
          ]}
          save={t('net.save')}
          again={again}
        />
      </details>
      {at(document, 'modem.support.operator') === true && (
        <>
          <h3>{t('modem.operatorChange')}</h3>
          <Operators document={document} again={again} />
        </>
      )}
    </Card>
  )
}

/** Which operator: automatic, or one of those that the last search found. */
function Operators({ document, again }: { document: Json; again: () => void }) {
  const found = listAt<Operator>(document, 'modem.scan')
  const chosen = numberAt(document, 'modem.cfg.plmn') ?? 0
  const isScanning = listAt<string>(document, 'modem.state.pending').includes('scan')
  const { answer, run } = useSubmit(async (plmn: number) => {
    await api.change({ 'mobile-operator': plmn }).finally(again)
    return t('modem.chosen')
  })
  const rows = [{ plmn: 0, name: t('modem.automatic'), act: 0 }, ...found]
  return (
    <>
      <p>{t('modem.operatorHelp')}</p>
      <ul class="list">
        {rows.map(({ plmn, name, act }) => (
          <li key={plmn} class="command">
            <button
              type="button"
              class="choice"
              aria-pressed={plmn === chosen}
              disabled={isReadOnly.value || plmn === chosen}
              onClick={() => void run(plmn)}
            >
              <span>
                <strong>{name || plmn}</strong>{' '}
                <span class="quiet">
                  {[plmn > 0 && String(plmn), technologyOf(act), plmn === chosen && t('modem.isChosen')]
                    .filter(Boolean)
                    .join(' · ')}
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
      <p class={answer.isTrouble ? 'trouble' : 'quiet'} role="status">
        {answer.text}
      </p>
      <p class="quiet">{t('modem.scanWarning')}</p>
      <Action
        label={t(isScanning ? 'modem.scanning' : 'modem.scan')}
        run={async () => {
          await api.run('mobile-scan')
          return t('modem.scanBegun')
        }}
        isDisabled={isScanning}
      />
    </>
  )
}
