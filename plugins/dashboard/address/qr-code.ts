import { generate } from 'lean-qr'
import { toSvgPath } from 'lean-qr/extras/svg'

/** Light modules around it on a terminal: enough for cameras, and half of what paper needs. */
const margin = 2
/** Black on bright white, whatever the colours of the terminal. */
const [colours, plain] = ['\u001b[30;107m', '\u001b[0m']
/** Two modules a character: the upper and the lower one dark or light. */
const halves = [' ', '▄', '▀', '█'] as const

/** Dark modules as an SVG path, one unit each. */
export function qrPath(text: string): { readonly size: number; readonly path: string } {
  const code = generate(text)
  return { size: code.size, path: toSvgPath(code) }
}

/** For a terminal, several lines. */
export function qrLines(text: string): string {
  const code = generate(text)
  const lines: string[] = []
  for (let y = -margin; y < code.size + margin; y += 2) {
    let line = ''
    for (let x = -margin; x < code.size + margin; x++)
      line += halves[(code.get(x, y) ? 2 : 0) + (code.get(x, y + 1) ? 1 : 0)]
    lines.push(`${colours}${line}${plain}`)
  }
  return lines.join('\n')
}
