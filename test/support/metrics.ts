/** The numbers of a server's `GET /metrics`, by name and labels as they stand there. */
export async function readMetrics(url: string): Promise<Record<string, number>> {
  const body = await (await fetch(`${url}/metrics`)).text();
  const lines = body.matchAll(/^(\w+(?:\{.*\})?) (\S+)$/gm);
  return Object.fromEntries([...lines].map(([, series = '', value]) => [series, Number(value)]));
}
