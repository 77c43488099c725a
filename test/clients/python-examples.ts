import { readFileSync } from 'node:fs';

/** The Python programs of a page of docs/, with another server. */
export function pythonExamples(page: string, url: string): string[] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const programs = [...text.matchAll(/^```python\n(.*?)^```$/gms)].map(([, program = '']) => program);
  return programs.map((program) => program.replace('http://localhost:7420', url));
}
