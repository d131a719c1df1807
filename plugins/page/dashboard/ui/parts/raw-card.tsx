/** Raw data by day, as RINEX: the way to a position that is exact. */

import { useState } from 'preact/hooks'
import { Card, Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { useLoaded } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { figure, t, word } from '../i18n/index.js'
import { type RawDay, type RawFiles, type RawPreset, rawDays, rawPresets, rinexLink } from '../model/raw-days.js'
import { antennaCodes } from '../station/antennas.js'
import { api, type Parameter } from '../station/api.js'
import { AntennaTable } from './antenna-table.js'
import { SettingForm } from './forms/setting-form.js'

interface Found {
  readonly files: RawFiles
  readonly parameters: readonly Parameter[]
}
const load = async (): Promise<Found> => {
  const [files, parameters] = await Promise.all([api.get<RawFiles>('/raw/files'), api.parameters()])
  return { files, parameters }
}
const settings = ['raw-en', 'raw-marker', 'gnss-antenna-descriptor', 'gnss-antenna-height'] as const

/** Nothing on a station without the archive. */
export function RawCard() {
  const { again, value } = useLoaded(load)
  const [preset, setPreset] = useState<RawPreset>('csrs-ppp')
  if (!value) return null
  const { files, parameters } = value
  const days = rawDays(files)
  const descriptor = `${parameters.find(({ name }) => name === 'gnss-antenna-descriptor')?.value ?? ''}`
  return (
    <Card title={t('raw.title')}>
      <p>{t('raw.what')}</p>
      {files.recording && (
        <p>
          <Tone tone="good">{t('raw.recording')}</Tone>
        </p>
      )}
      <details>
        <summary>{t('raw.settings')}</summary>
        <SettingForm
          settings={settings.map((name) => ({
            ...{ name, label: t(`raw.setting.${name}`), help: t(`raw.help.${name}`) },
            ...(name === 'gnss-antenna-descriptor' && { suggest: antennaCodes }),
          }))}
          parameters={parameters}
          save={t('raw.save')}
          again={again}
        />
        <AntennaTable key={descriptor} descriptor={descriptor} />
      </details>
      {days.length > 0 && (
        <>
          <Field
            label={t('raw.preset')}
            value={preset}
            set={(one) => setPreset(one as RawPreset)}
            options={rawPresets.map((one) => ({ value: one, text: t(`raw.preset.${one}`) }))}
          />
          <DataTable label={t('raw.title')} columns={columnsOf(preset)} rows={days} keyOf={({ day }) => day} />
        </>
      )}
    </Card>
  )
}

const columnsOf = (preset: RawPreset) => [
  { name: t('raw.day'), isHead: true, cell: ({ day }: RawDay) => `${day} UTC` },
  { name: t('raw.hours'), isNumber: true, cell: ({ hours }: RawDay) => figure(hours, 1, 'h') },
  {
    name: t('raw.notes'),
    cell: ({ notes }: RawDay) =>
      notes.length === 0 ? '–' : <Tone tone="warning">{notes.map((note) => word('raw.note', note)).join(', ')}</Tone>,
  },
  {
    name: 'RINEX',
    cell: (day: RawDay) => (
      <>
        <a class="target" href={rinexLink(day, preset)} download aria-label={t('raw.observationsOf', { day: day.day })}>
          {t('raw.observations')}
        </a>{' '}
        <a
          class="target"
          href={rinexLink(day, preset, 'navigation')}
          download
          aria-label={t('raw.navigationOf', { day: day.day })}
        >
          {t('raw.navigation')}
        </a>
      </>
    ),
  },
]
