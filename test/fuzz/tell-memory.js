// Preloaded into the server under test: answers each message with its memory after a garbage
// collection and the time it has worked.
process.on('message', () => {
  globalThis.gc();
  process.send({ memory: process.memoryUsage(), cpu: process.cpuUsage() });
});
process.channel?.unref();
