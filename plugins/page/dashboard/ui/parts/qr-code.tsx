import { useEffect, useState } from 'preact/hooks'

/** Modules a side, and the dark ones as an SVG path, one unit each. */
export interface QrPath {
  readonly size: number
  readonly path: string
}

/** Light modules around the code: without them it is not found. */
const margin = 4

export function QrDrawing({ of: { size, path }, label }: { of: QrPath; label: string }) {
  const whole = size + 2 * margin
  return (
    <svg class="code" viewBox={`${-margin} ${-margin} ${whole} ${whole}`} role="img" aria-label={label}>
      <rect class="code-light" x={-margin} y={-margin} width={whole} height={whole} />
      <path class="code-dark" d={path} />
    </svg>
  )
}

/** A QR code that is made in the browser: its text, a password perhaps, goes nowhere. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const [drawn, setDrawn] = useState<QrPath>()
  useEffect(() => {
    let isWanted = true
    void Promise.all([import('lean-qr'), import('lean-qr/extras/svg')]).then(([{ generate }, { toSvgPath }]) => {
      const code = generate(text)
      if (isWanted) setDrawn({ size: code.size, path: toSvgPath(code) })
    })
    return () => {
      isWanted = false
    }
  }, [text])
  return drawn ? <QrDrawing of={drawn} label={label} /> : null
}
