/** The net of the whole fleet, which the map shows on demand. */
import { batch, signal } from '@preact/signals'
import { type Net, netApi } from './net-api.js'

/** Vectors are new once an hour: more often than this nobody needs them. */
export const netAgain_ms = 300_000

export const isNetShown = signal(false)
export const net = signal<Net | undefined>(undefined)
export const netTrouble = signal('')
export const isNetLoading = signal(false)

export async function readNet(): Promise<void> {
  if (isNetLoading.value) return
  isNetLoading.value = true
  const found = await netApi.whole().catch((error: unknown) => error)
  batch(() => {
    isNetLoading.value = false
    const isTrouble = found instanceof Error
    netTrouble.value = isTrouble ? found.message : ''
    if (!isTrouble) net.value = found as Net
  })
}
