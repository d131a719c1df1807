import { signal } from '@preact/signals'

/** Whether the search is shown. */
export const searchOpen = signal(false)
