import { keepPreviousData, useMutation, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import { type Api, data, type Schemas, useApi, useWorkspace } from "../../api/client";

export type Document = Schemas["Document"];

export const SORTS = ["file_path", "created_at", "updated_at"] as const;
export type Sort = (typeof SORTS)[number];

/** The filters of the list, each with the statuses it stands for. */
export const FILTERS = {
  all: [],
  working: ["pending", "processing", "deleting"],
  processed: ["processed"],
  failed: ["failed", "partial"],
} as const satisfies Record<string, readonly string[]>;
export type Filter = keyof typeof FILTERS;

/** Documents that are asked for at once: those in sight, and some on either side. */
export const PAGE_SIZE = 100;

/** Documents that can be selected at once: as many as one request may name. */
export const MOST_SELECTED = 1_000;
const MOST_PER_PAGE = 200;

const BUSY_INTERVAL = 1_200;
const QUIET_INTERVAL = 10_000;

/** Which documents are listed, and in what order. */
export interface Wanted {
  filter: Filter;
  sort: Sort;
  descending: boolean;
  /** Only those with this in their name. */
  find: string;
}

/** What the address says is to be listed, and a way to change it. */
export function useListing() {
  const [params, setParams] = useSearchParams();
  const given = params.get("sort") as Sort | null;
  const listing: Wanted = {
    filter: ((params.get("show") ?? "all") in FILTERS ? (params.get("show") ?? "all") : "all") as Filter,
    sort: given && SORTS.includes(given) ? given : ("updated_at" as Sort),
    descending: params.get("order") !== "asc",
    find: params.get("find") ?? "",
  };
  const change = (next: Partial<Wanted>) => {
    const all = { ...listing, ...next };
    const values: Record<string, string> = {};
    if (all.filter !== "all") values.show = all.filter;
    if (all.sort !== "updated_at") values.sort = all.sort;
    if (!all.descending) values.order = "asc";
    if (all.find) values.find = all.find;
    setParams(values, { replace: true });
  };
  return { ...listing, change };
}

export type Listing = ReturnType<typeof useListing>;

async function read(api: Api, { filter, sort, descending, find }: Wanted, page: number, size: number) {
  const body = {
    page,
    page_size: size,
    sort_field: sort,
    sort_direction: descending ? ("desc" as const) : ("asc" as const),
    status_filters: [...FILTERS[filter]],
    search: find,
  };
  return data(await api.POST("/documents/paginated", { body }));
}

/** The list, of which the first page and those of `pages` are read. Often while documents are under way, so that one sees them move. */
export function useDocuments(listing: Wanted, pages: readonly number[]) {
  const api = useApi();
  const workspace = useWorkspace();
  const { filter, sort, descending, find } = listing;
  const wanted = { filter, sort, descending, find };
  const asked = (page: number) => ({
    queryKey: [workspace, "documents", { ...wanted, page }],
    queryFn: () => read(api, wanted, page, PAGE_SIZE),
    refetchInterval: (query: { state: { data?: Schemas["PaginatedResponse"] | undefined } }) =>
      working(query.state.data?.status_counts) > 0 ? BUSY_INTERVAL : QUIET_INTERVAL,
  });
  const first = useQuery({ ...asked(1), placeholderData: keepPreviousData });
  const others = pages.filter((page) => page > 1);
  const found = useQueries({ queries: others.map(asked) });
  const documentAt = (index: number): Document | undefined => {
    const page = Math.floor(index / PAGE_SIZE) + 1;
    const read = page === 1 ? first : found[others.indexOf(page)];
    return read?.data?.documents[index % PAGE_SIZE];
  };
  return { ...first, documentAt, total: first.data?.pagination.total_count ?? 0, counts: first.data?.status_counts };
}

/** The ids of the listed documents, as far as they can be selected at once. */
export async function idsOf(api: Api, wanted: Wanted): Promise<string[]> {
  const ids: string[] = [];
  for (let page = 1; ids.length < MOST_SELECTED; page += 1) {
    const { documents, pagination } = await read(api, wanted, page, MOST_PER_PAGE);
    ids.push(...documents.map(({ id }) => id));
    if (!pagination.has_next) break;
  }
  return [...new Set(ids)];
}

export function counted(counts: Record<string, number> | undefined, filter: Filter): number {
  const statuses: readonly string[] = filter === "all" ? ["all"] : FILTERS[filter];
  return statuses.reduce((sum, status) => sum + (counts?.[status] ?? 0), 0);
}

export const working = (counts: Record<string, number> | undefined) => counted(counts, "working");

/** Something that changes documents; the lists are asked for anew afterwards. */
export function useChange<T>(change: (given: T) => Promise<unknown>) {
  const queries = useQueryClient();
  const workspace = useWorkspace();
  return useMutation({
    mutationFn: change,
    onSettled: () =>
      Promise.all(["documents", "document"].map((what) => queries.invalidateQueries({ queryKey: [workspace, what] }))),
  });
}
