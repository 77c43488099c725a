import { text } from 'node:stream/consumers';

/** The text that was given on the command line; `-` stands for what comes on stdin. */
export async function inputText(given: string | undefined): Promise<string> {
  return given === '-' ? (await text(process.stdin)).trimEnd() : (given ?? '');
}
