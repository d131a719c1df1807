/**
 * The value that would be at an index if they were sorted, without sorting all of them (quickselect, Hoare). Reorders the values.
 * @param values the first `count` of them, none of which is NaN
 */
export function orderStatistic(values: Float64Array, count: number, index: number): number {
  let low = 0
  let high = count - 1
  while (low < high) {
    const pivot = values[(low + high) >> 1]
    let i = low
    let j = high
    while (i <= j) {
      while (values[i] < pivot) i++
      while (values[j] > pivot) j--
      if (i > j) break
      const swapped = values[i]
      values[i++] = values[j]
      values[j--] = swapped
    }
    if (index <= j) high = j
    else if (index >= i) low = i
    else break
  }
  return values[index]
}
