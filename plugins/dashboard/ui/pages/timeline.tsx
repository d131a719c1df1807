import { useCallback, useState } from 'preact/hooks'
import { isReadOnly } from '../../../../runtime/ui/http.js'
import { Bands } from '../../../../runtime/ui/parts/bands.js'
import { Card } from '../../../../runtime/ui/parts/card.js'
import { Empty } from '../../../../runtime/ui/parts/empty.js'
import { useLoaded, Waiting } from '../../../../runtime/ui/parts/loaded.js'
import { duration, locale, t } from '../i18n/index.js'
import { sentence } from '../i18n/plugin-texts.js'
import {
  type Band,
  bandsOf,
  beginOf,
  causeOf,
  day_ms,
  detailOf,
  kinds,
  type Outage,
  outagesOf,
  type Span,
  sumsOf,
} from '../model/timeline.js'
import { WhyForm } from '../parts/forms/why-form.js'
import { DayCard } from '../parts/plots/day-card.js'
import { api, Refused } from '../station/api.js'

interface Day {
  readonly from: number
  readonly to: number
  /** Undefined: this station keeps no record. */
  readonly spans: readonly Span[] | undefined
}

/** When corrections went out, and why not: the last 24 hours, and the days before. */
export function TimelinePage() {
  const [back, setBack] = useState(0)
  const load = useCallback(async (): Promise<Day> => {
    const to = Math.floor(Date.now() / 1_000) * 1_000 - back * day_ms
    const from = to - day_ms
    const ask = api.get<{ spans: Span[] }>(`/record/timeline?from=${from / 1_000}&to=${to / 1_000}`)
    const answer = await ask.catch((error: unknown) => {
      if (error instanceof Refused && error.status === 404) return undefined
      throw error
    })
    return { from, to, spans: answer?.spans }
  }, [back])
  const day = useLoaded(load)
  return (
    <>
      <Card title={back === 0 ? t('timeline.last') : t('timeline.before', { days: back })}>
        <Waiting of={day}>{(found) => <DayBands day={found} />}</Waiting>
        <div class="actions">
          <button type="button" onClick={() => setBack(back + 1)}>
            {t('timeline.earlier')}
          </button>
          {back > 0 && (
            <button type="button" onClick={() => setBack(back - 1)}>
              {t('timeline.later')}
            </button>
          )}
        </div>
        <Raw day={day.value} />
      </Card>
      {back === 0 && <DayCard />}
    </>
  )
}

/** Within a few minutes only seconds tell two times apart. */
const brief_ms = 600_000
const clock = (ms: number, isBrief = false) =>
  new Intl.DateTimeFormat(locale(), {
    hour: 'numeric',
    minute: '2-digit',
    ...(isBrief && { second: '2-digit' }),
  }).format(ms)
/** Within the last day the weekday is enough. */
const weekday = (ms: number) =>
  new Intl.DateTimeFormat(locale(), {
    weekday: 'short',
    ...(Date.now() - ms > day_ms && { day: 'numeric', month: 'short' }),
  }).format(ms)
const causeText = (code: string) => {
  const cause = causeOf(code)
  return cause ? t(`cause.${cause}`) : t('cause.other')
}

function DayBands({ day: { from: asked, spans, to } }: { day: Day }) {
  if (!spans) return <Empty drawing="quiet">{t('timeline.noRecord')}</Empty>
  // Of a new station the axis begins with its record.
  const from = beginOf(spans, asked)
  const isBrief = to - from < brief_ms
  const bands = bandsOf(spans, from, to)
  const outages = outagesOf(bands, to)
  const { longest_ms, missing_ms, sent_ms, unknown_ms } = sumsOf(bands, outages)
  const summary = [
    t('timeline.sent', { time: duration(sent_ms / 1_000) }),
    missing_ms > 0 &&
      t(outages.length === 1 ? 'timeline.oneGap' : 'timeline.gaps', {
        count: outages.length,
        time: duration(missing_ms / 1_000),
        longest: duration(longest_ms / 1_000),
      }),
    from > asked && t('timeline.since', { time: `${weekday(from)} ${clock(from)}` }),
    unknown_ms > 0 && t('timeline.unknown', { time: duration(unknown_ms / 1_000) }),
  ]
    .filter(Boolean)
    .join(' ')
  return (
    <>
      <p>{summary}</p>
      <Bands
        label={summary}
        bands={bands.map(({ kind, span, width, x }) => ({ key: span.from, kind, x, width }))}
        marks={(isBrief ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).map((share) =>
          clock(from + share * (to - from), isBrief),
        )}
        legend={kinds
          .filter((one) => bands.some(({ kind }) => kind === one))
          .map((kind) => [kind, t(`timeline.key.${kind}`)])}
      />
      {outages.length === 0 ? (
        <Empty drawing="quiet">{t('timeline.noGaps')}</Empty>
      ) : (
        <ol class="list">
          {outages.map((outage) => (
            <OutageRow key={outage.from} outage={outage} />
          ))}
        </ol>
      )}
    </>
  )
}

function OutageRow({ outage: { bands, from, isPresent, kind, to } }: { outage: Outage }) {
  const isBrief = to - from < brief_ms
  return (
    <li class="command gap">
      <svg viewBox="0 0 9 40" preserveAspectRatio="none" aria-hidden="true">
        <rect class={`cause-${kind}`} width="9" height="40" />
      </svg>
      <div>
        <p>
          <strong>
            {weekday(from)} {clock(from, isBrief)} – {isPresent ? t('timeline.now') : clock(to, isBrief)}
          </strong>{' '}
          <span class="quiet">{duration((to - from) / 1_000)}</span>
        </p>
        {bands.map((band, at) => (
          <Because
            key={band.span.from}
            band={band}
            before={bands[at - 1]}
            time={bands.length > 1 ? clock(band.span.from, isBrief) : ''}
          />
        ))}
      </div>
    </li>
  )
}

/** @param props.before what it says already need not be said again */
function Because({ band: { span }, before, time }: { band: Band; before: Band | undefined; time: string }) {
  const detail = before && detailOf(before.span) === detailOf(span) ? '' : detailOf(span)
  return (
    <p>
      {time !== '' && <span class="quiet">{time}</span>} {causeText(span.cause)}{' '}
      {detail !== '' && <span class="quiet">{sentence(detail)}</span>}
    </p>
  )
}

/** For who wants to know it exactly: what the station wrote down, and its own words on one minute. */
function Raw({ day }: { day: Day | undefined }) {
  return (
    <details>
      <summary>{t('timeline.raw')}</summary>
      {day?.spans && !isReadOnly.value && (
        <p>
          <a
            class="button"
            href={`/record?from=${Math.floor(day.from / 1_000)}&to=${Math.ceil(day.to / 1_000)}`}
            download="rtk-base-record.ndjson"
          >
            {t('timeline.download')}
          </a>
        </p>
      )}
      <h3>{t('procedure.why')}</h3>
      <WhyForm />
    </details>
  )
}
