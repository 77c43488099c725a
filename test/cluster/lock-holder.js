// Takes a lock, says so, and keeps it until standard input ends. Arguments: the folder, the patience in ms.
import { withLock } from '../../dist/cluster/start-lock.js';

const [folder, patience] = process.argv.slice(2);
try {
  await withLock(folder, { patience: Number(patience) }, async () => {
    process.stdout.write('taken\n');
    for await (const _ of process.stdin);
    process.stdout.write('leaving\n');
  });
} catch (error) {
  process.stdout.write(`${error.message}\n`);
}
