/** How good a time was: `planned` is part of normal work, such as a survey-in, a restart or an update. */
export const kinds = ['good', 'planned', 'limited', 'broken', 'unknown'] as const
export type BandKind = (typeof kinds)[number]
