import { type RefObject, useCallback, useEffect, useReducer, useRef, useState } from 'react';
import { LONGEST, SHORTEST } from './axis.js';

/** Which piece of time is shown, in server milliseconds. */
export interface View {
  readonly fromMs: number;
  readonly toMs: number;
  /** It moves with the present. */
  readonly following: boolean;
}

/** Which part of the width is left for what is to come, while the view follows the present. */
const AHEAD = 0.12;

/** What is looked at. */
interface Wanted {
  /** How much time; undefined: as much as the caller says, until somebody zooms. */
  readonly spanMs: number | undefined;
  /** Its end; undefined: the view follows the present. */
  readonly endMs: number | undefined;
}

export interface ViewControls {
  readonly view: View;
  /** Shows `factor` times as much, around a place between 0 (left) and 1. */
  zoom(factor: number, around?: number): void;
  /** Moves by a share of the width; negative: into the past. */
  pan(share: number): void;
  /** Follows the present again. */
  follow(): void;
  /** Shows all between two moments; up to the present when the end is absent. */
  show(fromMs: number, toMs?: number): void;
}

/**
 * Zoom and pan. Draws the component anew as time passes while the present is in view.
 *
 * @param firstSpanMs how much time is shown until somebody zooms
 */
export function useView(nowMs: () => number, firstSpanMs: number): ViewControls {
  const [wanted, setWanted] = useState<Wanted>({ spanMs: undefined, endMs: undefined });
  const spanMs = wanted.spanMs ?? firstSpanMs;
  const { endMs } = wanted;
  const now = nowMs();
  const toMs = endMs ?? now + spanMs * AHEAD;
  const view = { fromMs: toMs - spanMs, toMs, following: endMs === undefined };
  // About three pixels at a time.
  useFrames(view.toMs >= now ? Math.min(1_000, Math.max(200, spanMs / 400)) : undefined);

  const first = useRef(firstSpanMs);
  first.current = firstSpanMs;
  const change = useCallback(
    (next: (view: View) => { fromMs: number; toMs: number }) =>
      setWanted((wanted) => {
        const at = nowMs();
        const spanNow = wanted.spanMs ?? first.current;
        const end = wanted.endMs ?? at + spanNow * AHEAD;
        const { fromMs, toMs: to } = next({ fromMs: end - spanNow, toMs: end, following: false });
        const spanMs = Math.min(LONGEST, Math.max(SHORTEST, to - fromMs));
        return { spanMs, endMs: to >= at + spanMs * AHEAD * 0.99 ? undefined : to };
      }),
    [nowMs],
  );
  return {
    view,
    zoom: useCallback(
      (factor, around) =>
        change(({ fromMs, toMs }) => {
          // Whoever follows the present zooms around it.
          const centre = fromMs + (toMs - fromMs) * (around ?? 1 - AHEAD);
          return { fromMs: centre - (centre - fromMs) * factor, toMs: centre + (toMs - centre) * factor };
        }),
      [change],
    ),
    pan: useCallback(
      (share) =>
        change(({ fromMs, toMs }) => {
          const by = (toMs - fromMs) * share;
          return { fromMs: fromMs + by, toMs: toMs + by };
        }),
      [change],
    ),
    follow: useCallback(() => setWanted((wanted) => ({ ...wanted, endMs: undefined })), []),
    show: useCallback(
      (fromMs, to) =>
        setWanted(() => {
          const end = to ?? nowMs();
          const spanMs = Math.min(LONGEST, Math.max(SHORTEST, ((end - fromMs) * 1.06) / (1 - AHEAD)));
          return { spanMs, endMs: to === undefined ? undefined : to + spanMs * AHEAD };
        }),
      [nowMs],
    ),
  };
}

const stillness = matchMedia('(prefers-reduced-motion: reduce)');

/** Draws the component anew every so often; undefined: not by itself. */
function useFrames(everyMs: number | undefined): void {
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const pace = everyMs === undefined ? undefined : stillness.matches ? 1_000 : Math.round(everyMs / 50) * 50;
  useEffect(() => {
    if (pace === undefined) return;
    const timer = setInterval(draw, pace);
    return () => clearInterval(timer);
  }, [pace]);
}

/** Wheel with Ctrl zooms, sideways pans, and so does dragging. */
export function useGestures(element: RefObject<HTMLElement | null>, { zoom, pan }: ViewControls): void {
  const dragFrom = useRef<number | undefined>(undefined);
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const box = () => target.getBoundingClientRect();
    const onWheel = (event: WheelEvent) => {
      const { left, width } = box();
      if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY / 300), (event.clientX - left) / width);
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        pan((event.deltaX || event.deltaY) / width);
      } else return;
      event.preventDefault();
    };
    const onDown = (event: PointerEvent) => {
      if (event.button === 0 && event.isPrimary) dragFrom.current = event.clientX;
    };
    const onMove = (event: PointerEvent) => {
      if (dragFrom.current === undefined || event.buttons === 0) return;
      const by = event.clientX - dragFrom.current;
      if (Math.abs(by) < 3) return;
      pan(-by / box().width);
      dragFrom.current = event.clientX;
      target.setPointerCapture(event.pointerId);
    };
    const onUp = () => {
      dragFrom.current = undefined;
    };
    // React's own wheel listeners cannot keep the page from zooming.
    target.addEventListener('wheel', onWheel, { passive: false });
    target.addEventListener('pointerdown', onDown);
    target.addEventListener('pointermove', onMove);
    target.addEventListener('pointerup', onUp);
    // A finger that moves up or down scrolls the page instead.
    target.addEventListener('pointercancel', onUp);
    return () => {
      target.removeEventListener('wheel', onWheel);
      target.removeEventListener('pointerdown', onDown);
      target.removeEventListener('pointermove', onMove);
      target.removeEventListener('pointerup', onUp);
      target.removeEventListener('pointercancel', onUp);
    };
  }, [element, zoom, pan]);
}
