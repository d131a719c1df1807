/** Two ways to use the page: a finger on a phone, and the keys of a keyboard at a desk. Tasks are written once for both. */
import type { Locator, Page } from 'playwright-core'

export const modes = { finger: { width: 390, height: 844 }, keys: { width: 1440, height: 900 } } as const
export type Mode = keyof typeof modes

interface InPage {
  document: { activeElement: unknown; body: unknown; elementFromPoint(x: number, y: number): unknown }
  getComputedStyle(element: unknown): { outlineStyle: string; outlineWidth: string }
}
interface Element {
  readonly type?: string
  readonly id: string
  readonly textContent: string
  closest(selector: string): unknown
  contains(other: unknown): boolean
  getAttribute(name: string): string | null
  getBoundingClientRect(): { left: number; top: number; width: number; height: number }
}

/** Run in the page. @returns '' without the focus, else whether it is `seen`, `not seen` or `covered` by something else */
function focusOf(element: Element): string {
  const { document, getComputedStyle } = globalThis as unknown as InPage
  if (element !== document.activeElement) return ''
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  const { left, top, width, height } = element.getBoundingClientRect()
  const there = document.elementFromPoint(left + width / 2, top + height / 2) as Element | null
  const isCovered = !there || !(element.contains(there) || there.contains(element))
  return outlineStyle === 'none' || outlineWidth === '0px' ? 'not seen' : isCovered ? 'covered' : 'seen'
}

/** Further than this nobody presses Tab. */
const mostPresses = 150

export class Hands {
  readonly page: Page
  readonly #isKeys: boolean
  /** Since the task began; typing is not counted, nor is the way by Tab. */
  taps = 0
  /** Where the focus was lost, not seen, or covered. */
  readonly stumbles: string[] = []

  constructor(page: Page, mode: Mode) {
    this.page = page
    this.#isKeys = mode === 'keys'
  }

  async tap(what: Locator): Promise<void> {
    this.taps += 1
    const one = what.first()
    if (!this.#isKeys) return one.tap()
    await this.#reach(one)
    const isTicked = await one.evaluate(({ type }: Element) => /^(checkbox|radio)$/.test(type ?? ''))
    const isInDialog = await one.evaluate((element: Element) => element.closest('dialog') !== null)
    const name = await nameOf(one)
    const pressed = await one.elementHandle()
    await this.page.keyboard.press(isTicked ? 'Space' : 'Enter')
    if (isInDialog && !isTicked) await this.#focusIsBack(name, pressed)
  }

  /** A phone's keyboard has a key to send a form; it belongs to typing. */
  async enter(what: Locator, text: string, { isSent = false } = {}): Promise<void> {
    const one = what.first()
    if (this.#isKeys) {
      await this.#reach(one)
      await this.page.keyboard.press('Control+A')
      await (text === '' ? this.page.keyboard.press('Delete') : this.page.keyboard.type(text))
    } else await one.fill(text)
    if (isSent) await this.page.keyboard.press('Enter')
  }

  async #reach(one: Locator): Promise<void> {
    await one.waitFor({ state: 'visible' })
    for (let pressed = 0; pressed <= mostPresses; pressed += 1) {
      let seen = await one.evaluate(focusOf)
      // What was drawn meanwhile above it may have pushed it out of sight: who presses Tab again has it in sight.
      if (seen === 'covered') {
        await this.page.keyboard.press('Shift+Tab')
        await this.page.keyboard.press('Tab')
        seen = await one.evaluate(focusOf)
      }
      if (seen !== '') {
        if (seen !== 'seen') this.stumbles.push(`${await nameOf(one)}: the focus is ${seen}`)
        return
      }
      await this.page.keyboard.press('Tab')
    }
    throw new Error(`${await nameOf(one)}: not reached by ${mostPresses} presses of Tab`)
  }

  /** After the answer to a dialog the focus is where it was before, so that Tab continues from there. */
  async #focusIsBack(name: string, pressed: unknown): Promise<void> {
    const isBack = (button: { isConnected: boolean } | null) => {
      const { activeElement, body } = (globalThis as unknown as InPage).document
      return button?.isConnected !== true && activeElement !== null && activeElement !== body
    }
    const waited = this.page.waitForFunction(isBack, pressed as { isConnected: boolean } | null)
    await waited.catch(() => this.stumbles.push(`${name}: the focus is lost after the dialog`))
  }
}

const nameOf = (one: Locator): Promise<string> =>
  one.evaluate(
    (element: Element) => element.getAttribute('aria-label') ?? (element.textContent.trim().slice(0, 40) || element.id),
  )
