/**
 * Loaded into a server under test (`--expose-gc --import`): answers each message with its memory in bytes, once
 * everything is collected and given back that nothing refers to.
 */
process.on('message', () => {
  globalThis.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send({ rss, held: heapUsed + external });
});
// Being asked is no reason to stay.
process.channel.unref();
