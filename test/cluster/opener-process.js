// Opens a cluster, says so, and stops it when told to: a process that tests can kill. Its argument: ClusterOptions.
import { createInterface } from 'node:readline';
import { openCluster } from '../../dist/cluster/cluster.js';

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

try {
  const cluster = await openCluster({
    ...JSON.parse(process.argv[2]),
    onProgress: (progress) => say({ progress }),
  });
  say({ opened: { url: cluster.url, attached: cluster.attached, version: cluster.version } });
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'stop') break;
  }
  await cluster.stop();
  // Its other end stays open, and would keep this process.
  process.stdin.destroy();
} catch (error) {
  say({ failed: error.message });
  process.exitCode = 1;
}
