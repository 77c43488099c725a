// Migrates the database of its argument, as a replica does when it starts.
import { migrate } from '../../dist/store/migrate.js';

await migrate({ url: process.argv[2] });
