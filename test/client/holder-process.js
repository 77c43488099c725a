// Holds a lease as told in its environment, and says on stdout what becomes of it, one JSON line each.
import { createHoldfast, withLease } from '@holdfast/client';

const { url, token, taskId, ttlMs, meanwhile } = JSON.parse(process.env.HOLDER);
const holdfast = createHoldfast({ url, token, executionId: 'run-1' });
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const told = () => new Promise((resolve) => process.stdin.once('data', resolve));
const blocked = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const outcome = (promise) =>
  promise.then(() => ({ done: true })).catch(({ name, kind, code }) => ({ name, kind, code }));

await withLease(
  holdfast,
  { taskId },
  async (held) => {
    say({ holding: true, listeners: process.listenerCount('SIGTERM') });
    if (meanwhile === 'block') blocked(ttlMs * 1.5);
    else await told();
    // Not through `held`: what the server says to a client that does not look.
    const { proof } = held;
    const write = await outcome(held.addNote('late'));
    const blind = await outcome(
      holdfast.tasks.addNote({ taskId, text: 'blind', executionId: 'run-1', proof }),
    );
    say({ write, blind, reason: held.signal.reason?.kind });
  },
  { ttlMs },
);
holdfast.close();
say({ listeners: process.listenerCount('SIGTERM') });
process.stdin.destroy();
