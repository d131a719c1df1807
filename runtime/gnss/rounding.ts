/** A value to so many decimals, for people and for the document. */
export function roundTo(value: number, decimals: number): number {
  const per = 10 ** decimals
  return Math.round(value * per) / per
}
