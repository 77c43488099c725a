import { Session } from 'node:inspector/promises';

/**
 * Loaded into a server under test (`--import`): answers each message with its memory in bytes, once everything is
 * collected and given back that nothing refers to.
 */
const session = new Session();
session.connect();

process.on('message', async () => {
  await session.post('HeapProfiler.collectGarbage');
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send({ rss, held: heapUsed + external });
});
// Being asked is no reason to stay.
process.channel.unref();
