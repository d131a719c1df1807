/**
 * Brings a typed antenna name into the columns of the IGS code: 16 for the model, 4 for the radome.
 * @param typed model and radome, in these columns or separated by spaces; without a radome, `NONE` is added
 * @returns '' if it is empty, too long, or of more than two words
 */
export function antennaCode(typed: string): string {
  const text = typed.trim()
  if (text.length === 20 && !/\s/.test(text.slice(16))) return text
  const [model = '', radome = 'NONE', more] = text.split(/\s+/)
  return model === '' || more !== undefined || model.length > 16 || radome.length > 4
    ? ''
    : `${model.padEnd(16)}${radome.padEnd(4)}`
}
