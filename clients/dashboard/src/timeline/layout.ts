import type { Bar, Lane, Mark } from './lanes.js';
import type { View } from './use-view.js';

const ROW = 30;
const BAR = 22;
/** Above a lane's bars, where its marks are. */
const HEAD = 20;
const FOOT = 8;
export const AXIS = 28;

/** Where a lane is drawn, in pixels. */
export interface PlacedLane {
  readonly lane: Lane;
  readonly odd: boolean;
  readonly top: number;
  readonly height: number;
}

export interface Layout {
  readonly lanes: readonly PlacedLane[];
  readonly height: number;
  x(atMs: number): number;
  /** The bar's box. */
  box(bar: Bar): { x: number; y: number; width: number; height: number } | undefined;
  /** The mark's middle. */
  spot(mark: Mark): { x: number; y: number } | undefined;
  /** The middle of the bar of a task in a lane at a moment: what somebody bounced off. */
  obstacle(mark: Mark): { x: number; y: number } | undefined;
}

/** Places lanes, bars and marks on `width` pixels. */
export function layOut(lanes: readonly Lane[], { fromMs, toMs }: View, width: number, nowMs: number): Layout {
  let top = AXIS;
  const placed = lanes.map((lane, at): PlacedLane => {
    const height = HEAD + lane.rows * ROW + FOOT;
    const place = { lane, odd: at % 2 === 1, top, height };
    top += height;
    return place;
  });
  const byKey = new Map(placed.map((each) => [each.lane.key, each]));
  const x = (atMs: number) => ((atMs - fromMs) / (toMs - fromMs)) * width;
  const barTop = (bar: Bar) => {
    const lane = byKey.get(bar.lane);
    return lane && lane.top + HEAD + bar.row * ROW;
  };
  return {
    lanes: placed,
    height: top,
    x,
    box(bar) {
      const y = barTop(bar);
      if (y === undefined) return undefined;
      const endMs = bar.end === 'live' ? Math.max(nowMs, bar.startMs) : bar.endMs;
      const left = Math.max(-20, x(bar.startMs));
      const right = Math.min(width + 20, x(endMs));
      return { x: left, y, width: Math.max(4, right - left), height: BAR };
    },
    spot(mark) {
      const lane = byKey.get(mark.lane);
      return lane && { x: x(mark.atMs), y: lane.top + HEAD / 2 + 2 };
    },
    obstacle(mark) {
      const lane = mark.against === undefined ? undefined : byKey.get(mark.against);
      const bar = lane?.lane.bars.find(
        ({ taskId, startMs, endMs }) =>
          taskId === mark.taskId && startMs <= mark.atMs && endMs >= mark.atMs - 1_000,
      );
      const y = bar && barTop(bar);
      if (y === undefined || !lane) return undefined;
      const own = byKey.get(mark.lane);
      const above = own !== undefined && own.top < lane.top;
      return { x: x(mark.atMs), y: above ? y : y + BAR };
    },
  };
}
