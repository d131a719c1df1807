import { figure, t } from '../../i18n/index.js'
import type { Band, Bar } from '../../model/gnss/sky.js'

const strongest = 55

/** How strong the signals of a band are: filled those in use, hollow those that are only seen. */
export function CnoBars({ band, bars }: { band: Band; bars: readonly Bar[] }) {
  const used = bars.filter((bar) => bar.used)
  const mean = used.length > 0 ? used.reduce((sum, { cno }) => sum + cno, 0) / used.length : undefined
  const text = t('sky.barsText', { band, used: used.length, seen: bars.length, mean: figure(mean, 1, 'dB-Hz') })
  return (
    <figure class="plot">
      <figcaption>{text}</figcaption>
      <div class="cno-bars" aria-hidden="true">
        {bars.map(({ key, cno, name, sys, used: isUsed }) => (
          <div key={key} class="cno-bar">
            <span>{Math.round(cno)}</span>
            <svg viewBox={`0 0 10 ${strongest}`} preserveAspectRatio="none" aria-hidden="true">
              <rect
                class={`dot ${isUsed ? 'used' : 'seen'} ${sys}`}
                x="1.5"
                width="7"
                y={strongest - cno}
                height={Math.max(1, cno)}
              />
            </svg>
            <span>{name}</span>
          </div>
        ))}
      </div>
    </figure>
  )
}
