import { request } from "../../api/client";

/** Fetches what belongs to a document, from its version of then (a position, in microseconds since 1970) where there is no more of it now. */
export async function nowOrThen(path: string, query: Record<string, string>, workspace: string, position?: number): Promise<Response> {
  const address = (more: Record<string, string>) => {
    const parameters = new URLSearchParams({ ...query, ...more }).toString();
    return parameters ? `${path}?${parameters}` : path;
  };
  try {
    return await request(address({}), workspace);
  } catch (error) {
    if (!position) throw error;
    return request(address({ as_of: new Date(Math.ceil(position / 1000)).toISOString() }), workspace);
  }
}
