/** A submission of a person: whether it is under way, and its answer. */
import { useRef, useState } from 'preact/hooks'

export interface Answer {
  readonly text: string
  readonly isTrouble: boolean
}
const noAnswer: Answer = { text: '', isTrouble: false }

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export interface Submission<A extends readonly unknown[]> {
  readonly answer: Answer
  readonly isRunning: boolean
  /** Nothing while it runs already. Never rejects: a failure is the answer. Resolves with whether it was done. */
  run(...input: A): Promise<boolean>
  /** An answer of the page itself, such as a field that is missing; of '': none any more. */
  tell(text: string, isTrouble?: boolean): void
}

/** @param send its text is the answer, its rejection the trouble */
export function useSubmit<A extends readonly unknown[]>(
  send: (...input: A) => Promise<string | undefined>,
): Submission<A> {
  const [answer, setAnswer] = useState(noAnswer)
  const [isRunning, setRunning] = useState(false)
  // Two taps come before the page is drawn again.
  const isBusy = useRef(false)
  const run = async (...input: A) => {
    if (isBusy.current) return false
    isBusy.current = true
    setRunning(true)
    setAnswer(noAnswer)
    const [text, isTrouble] = await send(...input).then(
      (said = '') => [said, false] as const,
      (error: unknown) => [reasonOf(error), true] as const,
    )
    isBusy.current = false
    setAnswer({ text, isTrouble })
    setRunning(false)
    return !isTrouble
  }
  return { answer, isRunning, run, tell: (text, isTrouble = text !== '') => setAnswer({ text, isTrouble }) }
}
