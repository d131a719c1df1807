import { isReadOnly } from '../../../../../../runtime/lib/page/ui/http.js'
import { Action } from '../../../../../../runtime/lib/page/ui/parts/action.js'
import { useSubmit } from '../../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { type Value, ValueCard, ValueList } from '../../../../../../runtime/lib/page/ui/parts/values.js'
import { at, type Json, listAt, numberAt, textAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { figure, type TextKey, t, word } from '../../i18n/index.js'
import { dbmText } from '../../i18n/lengths.js'
import { mobileStrength, type Operator, technologyOf } from '../../model/wifi.js'
import { SettingForm } from '../../parts/forms/setting-form.js'
import { api } from '../../station/api.js'
import type { NetworkProps } from './wired.js'

const modem: readonly Value<TextKey>[] = [
  ['modem.technology', 'modem.state.connection_type'],
  ['net.signal', 'modem.state.rssi', (rssi) => rssi !== 0 && signalText(Number(rssi))],
  ['modem.network', 'modem.state.network', (network) => word('modem.network', String(network))],
  ['modem.apn', 'modem.cfg.apn'],
  [
    'modem.temperature',
    'modem.state.temp',
    (temp, document) => at(document, 'modem.state.temp_valid') === true && figure(Number(temp), 0, '°C'),
  ],
  [
    'modem.type',
    'modem',
    (_, document) => `${textAt(document, 'modem.manuf')} ${textAt(document, 'modem.model')}`.trim(),
  ],
]
const signalText = (rssi_dbm: number) => `${t(`net.strength.${mobileStrength(rssi_dbm)}`)} (${dbmText(rssi_dbm)})`

/** The mobile network: how it is, its APN and its operator. */
export function ModemCard({ document, parameters, again }: NetworkProps) {
  const of = (name: string) => textAt(document, `modem.state.${name}`)
  const isConnected = of('data') === 'connected'
  const sim = textAt(document, 'modem.sim.state')
  const pending = listAt<string>(document, 'modem.state.pending')
  const apn = textAt(document, 'modem.cfg.apn')
  return (
    <ValueCard
      document={document}
      block="modem"
      title={t('network.modem')}
      state={[
        isConnected ? 'good' : 'warning',
        t(isConnected ? 'modem.up' : 'modem.down', { operator: of('operator') || t('modem.nobody') }),
      ]}
    >
      {sim !== '' && sim !== 'ready' && <p class="trouble">{word('modem.sim', sim)}</p>}
      {pending.map((one) => (
        <p key={one} role="status">
          {word('modem.pending', one)}
        </p>
      ))}
      <ValueList document={document} of={modem} />
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
    </ValueCard>
  )
}

/** Which operator: automatic, or one of those that the last search found. */
function Operators({ document, again }: { document: Json; again: () => Promise<void> }) {
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
