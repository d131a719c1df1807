import { useCallback, useState } from 'preact/hooks'
import { isReadOnly } from '../../../../../runtime/lib/page/ui/http.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Empty } from '../../../../../runtime/lib/page/ui/parts/empty.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { type Gap, Timeline } from '../../../../../runtime/lib/page/ui/parts/timeline.js'
import { duration, locale, t, timeOfDay } from '../i18n/index.js'
import { sentence } from '../i18n/plugin-texts.js'
import { type Band, causeOf, day_ms, detailOf, type Outage, outagesOf, sumsOf } from '../model/timeline.js'
import { WhyForm } from '../parts/forms/why-form.js'
import { brief_ms, type Day, dayBands, drawnDay, loadDay } from '../parts/plots/cause-bands.js'
import { DayCard } from '../parts/plots/day-card.js'

/** When corrections went out, and why not: the last 24 hours, and the days before. */
export function TimelinePage() {
  const [back, setBack] = useState(0)
  const load = useCallback(() => loadDay(back), [back])
  const day = useLoaded(load)
  return (
    <>
      <Card title={back === 0 ? dayTitle(day.value) : t('timeline.before', { days: back })}>
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
      {back === 0 && <DayCard hasBands={false} />}
    </>
  )
}

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

function DayBands({ day }: { day: Day }) {
  if (!day.spans) return <Empty drawing="quiet">{t('timeline.noRecord')}</Empty>
  const { bands, from, to } = dayBands(day, day.spans)
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
    from > day.from && t('timeline.since', { time: `${weekday(from)} ${timeOfDay(from)}` }),
    unknown_ms >= 1_000 && t('timeline.unknown', { time: duration(unknown_ms / 1_000) }),
  ]
    .filter(Boolean)
    .join(' ')
  return (
    <Timeline
      {...drawnDay(from, to, bands)}
      summary={summary}
      gaps={outages.map(gapOf)}
      nothing={t('timeline.noGaps')}
    />
  )
}

function gapOf({ bands, from, isPresent, kind, to }: Outage): Gap {
  const isBrief = to - from < brief_ms
  return {
    key: from,
    kind,
    time: `${weekday(from)} ${timeOfDay(from, isBrief)} – ${isPresent ? t('timeline.now') : timeOfDay(to, isBrief)}`,
    length_s: (to - from) / 1_000,
    why: bands.map((band, at) => (
      <Because
        key={band.span.from}
        band={band}
        before={bands[at - 1]}
        time={bands.length > 1 ? timeOfDay(band.span.from, isBrief) : ''}
      />
    )),
  }
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

/** The record of a new station is shorter than a day. */
function dayTitle(day: Day | undefined): string {
  const from = day?.spans ? dayBands(day, day.spans).from : day?.from
  return day && from !== day.from ? t('timeline.young') : t('timeline.last')
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
