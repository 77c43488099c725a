import type { Holdfast } from '@holdfast/client';
import type { WatchLeasesResponse } from '@holdfast/proto/lease';
import type { Board } from '../rpc/board.js';

/** A note that fills what the transport buffers when a few of them come. */
export const LONG = 'x'.repeat(60_000);

/** A watch that is read when the test says so. */
export class Paused {
  readonly positions: number[] = [];
  token = '';
  readonly #stream: AsyncIterator<WatchLeasesResponse>;

  constructor(client: Pick<Holdfast, 'leases'>) {
    this.#stream = client.leases.watchLeases({})[Symbol.asyncIterator]();
  }

  /** Reads one message; rejects when the stream has ended. */
  async read(): Promise<void> {
    const { message } = (await this.#stream.next()).value as WatchLeasesResponse;
    if (message.case === 'events') {
      this.positions.push(...message.value.events.map(({ position }) => Number(position)));
    }
    if (message.value && 'resumeToken' in message.value) this.token = message.value.resumeToken;
  }
}

/** @returns the position of the last of them */
export async function writeNotes(board: Board, count: number, text: string): Promise<number> {
  const { id: taskId } = await board.task();
  for (let i = 0; i < count; i++) await board.member.tasks.addNote({ taskId, text });
  const { events } = await board.viewer.history.listHistory({ order: 2, pageSize: 1 });
  return Number(events[0]?.position);
}
