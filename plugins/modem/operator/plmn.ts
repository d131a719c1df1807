/**
 * MCC and MNC as they are written, of a number that has lost its leading zeros and the length of its MNC: as the scan or the table
 * writes it, else an MCC of three digits with an MNC of two, or of three where the number has six.
 * @param known as they are written, the best source first
 */
export function plmnDigits(plmn: number, known: Iterable<string>): string {
  for (const digits of known) if (/^\d{5,6}$/.test(digits) && Number(digits) === plmn) return digits
  return String(plmn).padStart(5, '0')
}
