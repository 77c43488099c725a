import { useSyncExternalStore } from 'react';

/** One timer for all that shows how time passes, however many they are. */
function ticker(everyMs: number) {
  const listeners = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let tick = 0;
  return {
    subscribe(listener: () => void) {
      listeners.add(listener);
      timer ??= setInterval(() => {
        tick += 1;
        for (const each of listeners) each();
      }, everyMs);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      };
    },
    tick: () => tick,
  };
}

const quarters = ticker(250);
const tens = ticker(10_000);

/** Draws the component anew four times a second. */
export const useTick = (): number => useSyncExternalStore(quarters.subscribe, quarters.tick);

/** Draws the component anew every ten seconds. */
export const useSlowTick = (): number => useSyncExternalStore(tens.subscribe, tens.tick);
