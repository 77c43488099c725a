/** Reads a list page by page, from the first to the last. */
export async function* pages<Page extends { readonly nextPageToken: string }>(
  read: (pageToken: string) => Promise<Page>,
): AsyncGenerator<Page> {
  let pageToken = '';
  do {
    const page = await read(pageToken);
    yield page;
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
}
