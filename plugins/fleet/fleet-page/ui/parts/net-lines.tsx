import { useEffect } from 'preact/hooks'
import { figure } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Switch } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { isNetLoading, isNetShown, netAgain_ms, netTrouble, readNet } from '../fleet/net.js'
import { t } from '../i18n/index.js'
import { type DrawnNet, lineKinds, mostLines } from '../model/net.js'

const ring_px = 19

/** Lines of compared stations, and a ring around each contradicted one. In the drawing of the map. */
export const NetLines = ({ drawn: { contradicted, paths } }: { drawn: DrawnNet }) => (
  <g class="net-lines">
    {[...lineKinds].reverse().map((kind) => (
      <path key={kind} class={`net-${kind}`} d={paths[kind]} />
    ))}
    {contradicted.map(({ x, y }) => (
      <circle key={`${x} ${y}`} class="net-ring" cx={x} cy={y} r={ring_px} />
    ))}
  </g>
)

/** Off until somebody wants it: the pairs of a large fleet are some megabytes. */
export function NetSwitch() {
  const isOn = isNetShown.value
  useEffect(() => {
    if (!isOn) return
    void readNet()
    const timer = setInterval(() => document.hidden || void readNet(), netAgain_ms)
    return () => clearInterval(timer)
  }, [isOn])
  return (
    <>
      <Switch
        label={t('net.switch')}
        isOn={isOn}
        set={(isWanted) => {
          isNetShown.value = isWanted
        }}
      />
      {isOn && (
        <button type="button" aria-disabled={isNetLoading.value} onClick={() => void readNet()}>
          {isNetLoading.value ? t('loaded.waiting') : t('net.reload')}
        </button>
      )}
    </>
  )
}

/** The meaning of each line, with the number of pairs in the shown part. */
export function NetLegend({ drawn }: { drawn: DrawnNet | undefined }) {
  return (
    <>
      {netTrouble.value && (
        <p class="trouble" role="alert">
          {netTrouble.value}
        </p>
      )}
      {drawn && (
        <ul class="legend">
          {lineKinds.map((kind) => (
            <li key={kind}>
              <svg class="swatch net-lines" viewBox="0 0 28 16" aria-hidden="true">
                <path class={`net-${kind}`} d="M0 8H28" />
              </svg>
              {t(`net.line.${kind}`)}: {figure(drawn.counts[kind], 0)}
            </li>
          ))}
          <li>
            <svg class="swatch net-lines" viewBox="0 0 28 16" aria-hidden="true">
              <circle class="net-ring" cx="14" cy="8" r="7" />
            </svg>
            {t('net.contradicted')}: {figure(drawn.contradicted.length, 0)}
          </li>
        </ul>
      )}
      {drawn && drawn.left > 0 && (
        <p class="quiet">{t('net.tooMany', { shown: figure(mostLines, 0), left: figure(drawn.left, 0) })}</p>
      )}
    </>
  )
}
