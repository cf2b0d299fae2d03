import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";

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

export const PAGE_SIZE = 50;

const BUSY_INTERVAL = 1_200;
const QUIET_INTERVAL = 10_000;

/** What the address says is to be listed, and a way to change it. */
export function useListing() {
  const [params, setParams] = useSearchParams();
  const given = params.get("sort") as Sort | null;
  const listing = {
    filter: ((params.get("show") ?? "all") in FILTERS ? (params.get("show") ?? "all") : "all") as Filter,
    sort: given && SORTS.includes(given) ? given : ("updated_at" as Sort),
    descending: params.get("order") !== "asc",
    page: Math.max(1, Number(params.get("page")) || 1),
  };
  const change = (next: Partial<typeof listing>) => {
    const all = { ...listing, page: 1, ...next };
    const values: Record<string, string> = {};
    if (all.filter !== "all") values.show = all.filter;
    if (all.sort !== "updated_at") values.sort = all.sort;
    if (!all.descending) values.order = "asc";
    if (all.page > 1) values.page = String(all.page);
    setParams(values);
  };
  return { ...listing, change };
}

export type Listing = ReturnType<typeof useListing>;

/** A page of the list. It is asked for often while documents are under way, so that one sees them move. */
export function useDocuments(listing: Listing) {
  const api = useApi();
  const workspace = useWorkspace();
  const { filter, sort, descending, page } = listing;
  return useQuery({
    queryKey: [workspace, "documents", { filter, sort, descending, page }],
    queryFn: async () =>
      data(
        await api.POST("/documents/paginated", {
          body: {
            page,
            page_size: PAGE_SIZE,
            sort_field: sort,
            sort_direction: descending ? "desc" : "asc",
            status_filters: [...FILTERS[filter]],
          },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: (query) =>
      working(query.state.data?.status_counts) > 0 ? BUSY_INTERVAL : QUIET_INTERVAL,
  });
}

export function counted(counts: Record<string, number> | undefined, filter: Filter): number {
  const statuses: readonly string[] = filter === "all" ? ["all"] : FILTERS[filter];
  return statuses.reduce((sum, status) => sum + (counts?.[status] ?? 0), 0);
}

const working = (counts: Record<string, number> | undefined) => counted(counts, "working");

/** Something that changes documents; the lists are asked for anew afterwards. */
export function useChange<T>(change: (given: T) => Promise<unknown>) {
  const queries = useQueryClient();
  const workspace = useWorkspace();
  return useMutation({
    mutationFn: change,
    onSettled: () => queries.invalidateQueries({ queryKey: [workspace, "documents"] }),
  });
}
