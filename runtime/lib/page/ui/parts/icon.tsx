/** One family of icons: 24 × 24, lines of 1.75, no fills. */
const paths = {
  antenna: 'M4 9a8 5 0 0 1 16 0zM12 9v4M8 21l4-8 4 8M9.5 18h5',
  receiver:
    'M8 6h8a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H8a2 2 0 0 1-2-2V8a2 2 0 0 1 2-2zM9 2v4M15 2v4M9 18v4M15 18v4M2 9h4M2 15h4M18 9h4M18 15h4',
  reference: 'M5 12a7 7 0 1 0 14 0a7 7 0 1 0-14 0M12 2v6M12 16v6M2 12h6M16 12h6',
  gate: 'M12 3l8 3v6c0 5-3.5 8-8 9c-4.5-1-8-4-8-9V6zM8.5 12l2.5 2.5l4.5-5',
  outputs:
    'M10 12a2 2 0 1 0 4 0a2 2 0 1 0-4 0M7.8 16.2a6 6 0 0 1 0-8.4M16.2 7.8a6 6 0 0 1 0 8.4M5 19a10 10 0 0 1 0-14M19 5a10 10 0 0 1 0 14',
  rovers:
    'M3 16a4 4 0 1 0 8 0a4 4 0 1 0-8 0M15.5 17.5a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0M11 16h4.5M5 12V5h7l2 6h4a2 2 0 0 1 2 2v2M9 5v6',
  overview: 'M4 19a9 9 0 1 1 16 0M12 15l4-5M10.8 15.5a1.2 1.2 0 1 0 2.4 0a1.2 1.2 0 1 0-2.4 0',
  position: 'M12 21s7-6.2 7-11.5a7 7 0 0 0-14 0C5 14.8 12 21 12 21zM9.5 9.5a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0',
  device:
    'M5 5h14a2 2 0 0 1 2 2v2a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2zM5 13h14a2 2 0 0 1 2 2v2a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-2a2 2 0 0 1 2-2zM7 8h.01M7 16h.01M11 8h6M11 16h6',
  search: 'M5 11a6 6 0 1 0 12 0a6 6 0 1 0-12 0M20 20l-4.5-4.5',
  fit: 'M5 12.5l4.5 4.5L19 7.5',
  coarse: 'M4 10c2.5-3 5-3 8 0s5.5 3 8 0M4 16c2.5-3 5-3 8 0s5.5 3 8 0',
  degraded: 'M12 5v9M12 18.5v.01',
  unfit: 'M6 6l12 12M18 6L6 18',
  unknown: 'M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 18.5v.01',
  waiting: 'M12 7v5l3.5 2M4 12a8 8 0 1 0 16 0a8 8 0 1 0-16 0',
  wifi: 'M3 9.5a13 13 0 0 1 18 0M6 13a8.5 8.5 0 0 1 12 0M9 16.2a4.2 4.2 0 0 1 6 0M12 19.5v.01',
  key: 'M4 15a4 4 0 1 0 8 0a4 4 0 1 0-8 0M11 12l8-8M16 7l2.5 2.5M19 4l1 1',
  download: 'M12 4v11M7.5 11l4.5 4.5l4.5-4.5M5 20h14',
  refresh: 'M20 12a8 8 0 1 1-2.5-5.8M20 3v4h-4',
  next: 'M9 5l7 7l-7 7',
} as const
export type IconName = keyof typeof paths

/** Decoration: the text beside it says the same. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
)
