import { Session } from 'node:inspector/promises';

/**
 * Loaded into a server under test (`--import`): answers each message with its memory in bytes, once everything is
 * collected and given back that nothing refers to.
 */
process.on('message', async () => {
  // Only while it is asked: what is measured else runs without an inspector.
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.collectGarbage');
  session.disconnect();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send({ rss, held: heapUsed + external });
});
// Being asked is no reason to stay.
process.channel.unref();
