/** Commands in the bytes from the host: lines that end with CR LF, between frames of other protocols. */

/** The first bytes of UBX and RTCM 3. Recorded is a MON-VER in front of a command, in the same line, which did no harm. */
const foreign = /\xb5b|\xd3/
const longest = 2048

export class CommandLines {
  #text = ''

  forget(): void {
    this.#text = ''
  }

  /** The lines that these bytes complete. */
  push(bytes: Uint8Array): string[] {
    this.#text = (this.#text + Buffer.from(bytes).toString('latin1')).slice(-longest)
    const lines: string[] = []
    for (;;) {
      const end = this.#text.indexOf('\r\n')
      const frame = this.#text.search(foreign)
      if (frame >= 0 && (end < 0 || frame < end)) {
        const size = this.#sizeOfFrame(frame)
        if (size === undefined || this.#text.length < frame + size) return lines
        this.#text = this.#text.slice(0, frame) + this.#text.slice(frame + size)
      } else {
        if (end < 0) return lines
        // A CR or an LF alone ends nothing.
        const line = this.#text
          .slice(0, end)
          .replaceAll(/[^ -~]/g, '')
          .trim()
        this.#text = this.#text.slice(end + 2)
        if (line !== '') lines.push(line)
      }
    }
  }

  #sizeOfFrame(at: number): number | undefined {
    const code = (i: number) => this.#text.charCodeAt(at + i)
    // A stray D3 is no frame: the six bits behind it are zero.
    if (code(0) === 0xd3) return code(1) > 3 ? 1 : code(1) * 256 + code(2) + 6 || undefined
    return code(4) + 256 * code(5) + 8 || undefined
  }
}
