import { Card, FigureList, Tone, type ToneName } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { type Json, listAt, numberAt, textAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { figure, moment, t, word } from '../i18n/index.js'
import { barsOf, letterOf, nameOf, systems } from '../model/gnss/sky.js'
import { CnoBars } from '../parts/plots/cno-bars.js'
import { CnoPlot, DayPlot, dayOf, useDay } from '../parts/plots/day-plot.js'
import { ShadingPlot, SkyPlot } from '../parts/plots/sky-plot.js'
import { api } from '../station/api.js'
import { document$, satellites } from '../station/live.js'

const loadShading = () => api.sky()
const loadDay = dayOf(['interference', 'slips', 'cno-l1', 'cno-l2'])

/** The antenna's view of the sky, and its obstructions. */
export function SkyPage() {
  const document = document$.value
  return (
    <>
      <Now />
      {document && <Antenna document={document} />}
      <Strength />
      {document && <Interference document={document} />}
      <Shading />
    </>
  )
}

function Now() {
  const all = satellites.value
  if (all.length === 0) return <Card title={t('sky.now')}>{t('sky.nothing')}</Card>
  return (
    <Card title={t('sky.now')}>
      <div class="beside">
        <SkyPlot satellites={all} />
        <div>
          <ul class="plain keys">
            {systems
              .map((name) => [name, all.filter(({ sys }) => sys === name)] as const)
              .filter(([, own]) => own.length > 0)
              .map(([name, own]) => (
                <li key={name}>
                  <svg class="letter" viewBox="-16 -16 32 32" aria-hidden="true">
                    <g class={`dot used ${name}`}>
                      <circle r="14" />
                      <text y="5">{letterOf(name)}</text>
                    </g>
                  </svg>
                  {t('sky.count', {
                    name: t(`sky.system.${name}`),
                    used: own.filter(({ used }) => used).length,
                    seen: own.filter(({ cno }) => cno > 0).length,
                  })}
                </li>
              ))}
          </ul>
          <p class="quiet">{t('sky.key')}</p>
        </div>
      </div>
      <details>
        <summary>{t('sky.table')}</summary>
        <DataTable
          label={t('sky.table')}
          rows={all}
          keyOf={nameOf}
          columns={[
            { name: t('sky.satellite'), isHead: true, cell: nameOf },
            { name: t('sky.azimuth'), isNumber: true, cell: ({ az }) => figure(az ?? undefined, 0, '°') },
            { name: t('sky.elevation'), isNumber: true, cell: ({ el }) => figure(el ?? undefined, 0, '°') },
            {
              name: 'C/N0, dB-Hz',
              cell: ({ signals }) => signals.map(({ name, cno }) => `${name} ${cno}`).join(', ') || '–',
            },
            {
              name: t('sky.state'),
              cell: ({ used, cno }) => t(used ? 'sky.used' : cno > 0 ? 'sky.seen' : 'sky.silent'),
            },
          ]}
        />
      </details>
    </Card>
  )
}

function Strength() {
  const bands = barsOf(satellites.value)
  if (bands.length === 0) return null
  return (
    <Card title={t('sky.strength')}>
      {bands.map(([band, bars]) => (
        <CnoBars key={band} band={band} bars={bars} />
      ))}
    </Card>
  )
}

const antennaTones: Readonly<Record<string, ToneName>> = { ok: 'good', open: 'broken', short: 'broken' }
const airTones: Readonly<Record<string, ToneName>> = {
  ok: 'good',
  none: 'good',
  warning: 'warning',
  critical: 'broken',
  indicated: 'broken',
  multiple: 'broken',
}

function Antenna({ document }: { document: Json }) {
  const at = (name: string) => numberAt(document, `gnss.state.antenna.${name}`) ?? 0
  const isAway = ['offline', 'stalled'].includes(textAt(document, 'gnss.state.status'))
  const told = textAt(document, 'gnss.state.antenna.status')
  if (told === '') return null
  // The last status of an absent receiver is not current.
  const status = isAway ? 'away' : told
  return (
    <Card title={t('sky.antenna')}>
      <p class="large">
        <Tone tone={antennaTones[status] ?? 'idle'}>{word('sky.antennaState', status)}</Tone>
      </p>
      <FigureList
        rows={[
          [t('sky.antennaFailures'), figure(at('failcnt'), 0)],
          [t('sky.antennaFailed'), at('failtime') > 0 && moment(at('failtime'))],
          [t('sky.antennaDescriptor'), textAt(document, 'gnss.rtcm.antenna.descriptor')],
        ]}
      />
    </Card>
  )
}

interface RfBand {
  band: string
  jamming: string
  indicator?: number
  agc?: number
  noise?: number
}

function Interference({ document }: { document: Json }) {
  const day = useDay(loadDay)
  const bands = listAt<RfBand>(document, 'gnss.state.rf.bands')
  const spoofing = textAt(document, 'gnss.state.rf.spoofing')
  if (spoofing === '') return null
  return (
    <Card title={t('sky.air')}>
      {bands.length > 0 && (
        <DataTable
          label={t('sky.air')}
          rows={bands}
          keyOf={({ band }) => band}
          columns={[
            { name: t('sky.band'), isHead: true, cell: ({ band }) => band },
            {
              name: t('sky.jamming'),
              cell: ({ jamming }) => <Tone tone={airTones[jamming] ?? 'idle'}>{word('sky.air', jamming)}</Tone>,
            },
            {
              name: t('sky.indicator'),
              isNumber: true,
              cell: ({ indicator }) => (indicator === undefined ? '–' : `${indicator} / 255`),
            },
            { name: t('sky.agc'), isNumber: true, cell: ({ agc }) => (agc === undefined ? '–' : `${agc} %`) },
            { name: t('sky.noise'), isNumber: true, cell: ({ noise }) => noise ?? '–' },
          ]}
        />
      )}
      <p>
        {t('sky.spoofing')}: <Tone tone={airTones[spoofing] ?? 'idle'}>{word('sky.spoof', spoofing)}</Tone>
      </p>
      <DayPlot
        title={t('sky.indicatorDay')}
        of={day}
        least={0}
        most={64}
        curves={[{ figure: 'interference', label: t('sky.indicator'), unit: '', digits: 0, colour: 'unfit' }]}
      />
      <DayPlot
        title={t('sky.slipsDay')}
        of={day}
        least={0}
        most={5}
        curves={[{ figure: 'slips', label: t('sky.slips'), unit: '%', digits: 1, colour: 'main' }]}
      />
      <CnoPlot of={day} />
    </Card>
  )
}

function Shading() {
  const cells = useLoaded(loadShading)
  return (
    <Card title={t('sky.shading')}>
      <p>{t('sky.shadingHint')}</p>
      <Waiting of={cells}>
        {(all) =>
          all.length === 0 ? (
            <p class="quiet">{t('sky.shadingYoung')}</p>
          ) : (
            <>
              <ShadingPlot cells={all} />
              <details>
                <summary>{t('plot.table')}</summary>
                <DataTable
                  label={t('sky.shading')}
                  rows={all}
                  keyOf={({ az, el }) => `${az} ${el}`}
                  columns={[
                    { name: t('sky.azimuth'), isHead: true, cell: ({ az }) => `${az}–${az + 10}°` },
                    { name: t('sky.elevation'), cell: ({ el }) => `${el}–${el + 10}°` },
                    { name: 'C/N0', isNumber: true, cell: ({ cno }) => figure(cno, 1, 'dB-Hz') },
                  ]}
                />
              </details>
            </>
          )
        }
      </Waiting>
    </Card>
  )
}
