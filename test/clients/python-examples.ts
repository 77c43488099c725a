import { readFileSync } from 'node:fs';

/** The Python programs of docs/clients.md, with another server. */
export function pythonExamples(url: string): string[] {
  const text = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
  const programs = [...text.matchAll(/^```python\n(.*?)^```$/gms)].map(([, program = '']) => program);
  return programs.map((program) => program.replace('http://localhost:7420', url));
}
