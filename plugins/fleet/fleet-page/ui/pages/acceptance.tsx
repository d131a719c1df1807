import { useCallback, useEffect } from 'preact/hooks'
import { figure, locale, word } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, FigureList, Tone } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { may, stationOf } from '../fleet/live.js'
import { netAgain_ms } from '../fleet/net.js'
import { type Acceptance, axes, type Evidence, type NeighbourEvidence, netApi } from '../fleet/net-api.js'
import { t } from '../i18n/index.js'
import { OutcomeOf } from '../parts/acceptance-card.js'
import { mmText, offsetRows, stateTones } from '../parts/net-words.js'
import { place } from '../place.js'

/** An acceptance test with its evidence, to be printed: `?id=`. */
export function AcceptancePage() {
  const id = Number(place.value.query.get('id') ?? 0)
  return <OneTest key={id} id={id} />
}

function OneTest({ id }: { id: number }) {
  const found = useLoaded(useCallback(() => netApi.acceptance(id), [id]))
  const isRunning = found.value?.outcome === 'running'
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(found.again, netAgain_ms)
    return () => clearInterval(timer)
  }, [found.again, isRunning])
  return (
    <Waiting of={found}>
      {(test) => (
        <>
          <p class="screen-only">
            <a class="target" href={`#/station/${encodeURIComponent(test.serial)}`}>
              {t('acceptance.back', { serial: test.serial })}
            </a>
          </p>
          <TestCard test={test} />
          {isRunning && may('operator') && (
            <div class="actions screen-only">
              <Action
                label={t('acceptance.cancel')}
                caution={<p>{t('acceptance.cancelText')}</p>}
                run={async () => {
                  await netApi.cancel(id)
                  await found.again()
                  return ''
                }}
              />
            </div>
          )}
          {test.evidence && <EvidenceCard evidence={test.evidence} isRunning={isRunning} />}
          <button type="button" class="screen-only main" onClick={() => print()}>
            {t('acceptance.print')}
          </button>
        </>
      )}
    </Waiting>
  )
}

/** With the time zone: a printed page is read elsewhere. */
const exactTime = (t_s: number): string =>
  t_s === 0
    ? '–'
    : new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'long' }).format(Math.floor(t_s) * 1_000)

const degrees = (value: number, [positive, negative]: readonly [string, string]) =>
  `${Math.abs(value).toFixed(9)}° ${value < 0 ? negative : positive}`

function TestCard({ test }: { test: Acceptance }) {
  const { begun, by, ended, id, outcome, position, reason, serial, until, version } = test
  const { alt, lat, lon, x, y, z } = position
  const name = stationOf(serial)?.name
  return (
    <Card title={name ? `${name} (${serial})` : serial}>
      <p class="large" role="status">
        <strong>
          <OutcomeOf outcome={outcome} />
        </strong>
      </p>
      {reason && <p lang="en">{reason}</p>}
      <FigureList
        rows={[
          [t('acceptance.number'), id],
          [t('acceptance.begun'), exactTime(begun)],
          [t('acceptance.end'), exactTime(ended || until)],
          [t('acceptance.by'), by || '–'],
          [t('list.version'), version],
          [t('acceptance.position'), `${degrees(lat, ['N', 'S'])}, ${degrees(lon, ['E', 'W'])}`],
          [t('acceptance.height'), figure(alt, 4, 'm')],
          [t('acceptance.ecef'), [x, y, z].map((one) => `${one.toFixed(4)} m`).join(', ')],
          [t('acceptance.asOf'), exactTime(Date.now() / 1_000)],
        ]}
      />
    </Card>
  )
}

function EvidenceCard({ evidence, isRunning }: { evidence: Evidence; isRunning: boolean }) {
  const { cause, covered, neighbours, offset, sigma } = evidence
  const isMeasured = axes.some((axis) => sigma[axis] > 0)
  /** Without a fixed window there is no offset. */
  const ofFixed = (text: (one: NeighbourEvidence) => string) => (one: NeighbourEvidence) =>
    one.fixed > 0 ? text(one) : '–'
  return (
    <Card title={t('acceptance.evidence')}>
      {isRunning && <p class="quiet">{t('acceptance.untilNow')}</p>}
      <FigureList rows={[[t('acceptance.covered'), figure(covered, 1, 'h')]]} />
      {isMeasured && (
        <>
          <p class="quiet">{t('net.offset')}</p>
          <FigureList rows={offsetRows(offset, sigma)} />
        </>
      )}
      {cause && (
        <p>
          {t('net.cause')}: <span lang="en">{cause}</span>
        </p>
      )}
      {neighbours.length === 0 ? (
        <p>{t('acceptance.noEvidence')}</p>
      ) : (
        <DataTable
          label={t('acceptance.evidence')}
          rows={neighbours}
          keyOf={({ serial }) => serial}
          columns={[
            { name: t('net.neighbour'), isHead: true, cell: ({ serial }) => serial },
            { name: t('acceptance.windows'), isNumber: true, cell: ({ windows }) => figure(windows, 0) },
            { name: t('acceptance.fixed'), isNumber: true, cell: ({ fixed }) => figure(fixed * 100, 0, '%') },
            ...axes.map((axis) => ({
              name: `${t(`net.${axis}`)}, mm`,
              isNumber: true,
              cell: ofFixed((one) => `${mmText(one.offset[axis])} ± ${mmText(one.sigma[axis])}`),
            })),
            ...(['repeatability', 'change'] as const).map((name) => ({
              name: t(`acceptance.${name}`),
              isNumber: true,
              cell: ofFixed((one) => axes.map((axis) => mmText(one[name][axis])).join(' / ')),
            })),
            {
              name: t('acceptance.verdict'),
              cell: ({ verdict }) => <Tone tone={stateTones[verdict]}>{word('acceptance.verdict', verdict)}</Tone>,
            },
          ]}
        />
      )}
      <p class="quiet">{t('acceptance.legend')}</p>
    </Card>
  )
}
