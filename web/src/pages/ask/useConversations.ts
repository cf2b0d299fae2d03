import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { type Api, data, useApi, useWorkspace } from "../../api/client";
import { usePrincipal } from "../../api/principal";
import { adopt, conversations, conversationsOf, type Owner, type Remote, type SavedConversation } from "./conversations";
import type { Question } from "./stream";

const remoteOf = (api: Api): Remote => ({
  put: ({ id, name, at, questions }) => api.PUT("/conversations/{id}", { params: { path: { id } }, body: { name, at, questions: [...questions] } }),
  remove: (id) => api.DELETE("/conversations/{id}", { params: { path: { id } } }),
});

/** The conversations of who is signed in, kept by the server; those of guests, whom it does not know, by the browser. */
export function useConversations(): { owner: Owner; kept: readonly SavedConversation[] } {
  const workspace = useWorkspace();
  const account = usePrincipal().name;
  const api = useApi();
  const found = useQuery({
    queryKey: [workspace, "conversations", account],
    queryFn: async () => data(await api.GET("/conversations")),
    refetchOnWindowFocus: false,
  });
  const isKept = found.data?.are_kept ?? false;
  const owner = useMemo((): Owner => ({ account, workspace, remote: isKept ? remoteOf(api) : undefined }), [account, workspace, isKept, api]);
  useEffect(() => {
    const known = found.data?.conversations ?? [];
    adopt(owner, known.map((one) => ({ ...one, questions: one.questions as Question[] })));
  }, [owner, found.data]);
  const kept = conversationsOf(useSyncExternalStore(conversations.subscribe, conversations.get), owner);
  return { owner, kept };
}
