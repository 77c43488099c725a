/** What shows whether anybody can see the page: the browser's `document`. */
export interface Sight extends EventTarget {
  readonly visibilityState: string;
}

/** What goes on only while somebody can see it. */
export interface Resting {
  rest(): void;
  wake(): void;
}

/** Whoever only looks into another tab for a moment finds everything as it was. */
const REST_AFTER_MS = 30_000;

/**
 * Lets something rest once the page has been out of sight for half a minute, and wakes it when the page is seen again.
 *
 * @returns ends that
 */
export function restOutOfSight(resting: Resting, sight: Sight): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (sight.visibilityState === 'hidden') timer = setTimeout(() => resting.rest(), REST_AFTER_MS);
    else resting.wake();
  };
  sight.addEventListener('visibilitychange', look);
  look();
  return () => {
    clearTimeout(timer);
    sight.removeEventListener('visibilitychange', look);
  };
}
