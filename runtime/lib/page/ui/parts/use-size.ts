import { useEffect, useRef, useState } from 'preact/hooks'
import type { Size } from '../model/axis.js'

/** The size of an element, as it changes. */
export function useSize(first: Size) {
  const place = useRef<HTMLDivElement>(null)
  const [size, setSize] = useState(first)
  useEffect(() => {
    const element = place.current
    if (!element) return
    const sizes = new ResizeObserver(() => {
      const { clientHeight: height, clientWidth: width } = element
      if (width > 0) setSize({ width, height })
    })
    sizes.observe(element)
    return () => sizes.disconnect()
  }, [])
  return [size, place] as const
}
