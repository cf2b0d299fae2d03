import { createContext, useContext } from "react";
import type { Schemas } from "./client";

export type Principal = Schemas["CurrentPrincipal"];

export const PrincipalContext = createContext<Principal>({
  name: "anyone",
  right: "read",
  sees_all_documents: true,
  workspaces: [],
  default_workspace: "",
});

export const usePrincipal = () => useContext(PrincipalContext);

/** Whether buttons that change something are shown; the server refuses in any case. */
export const useMayWrite = () => usePrincipal().right === "write";

/** Whether no document is hidden from somebody: else the log and the operations are closed. */
export const useSeesAllDocuments = () => usePrincipal().sees_all_documents;

/** Whether somebody may look at the deployment as a whole, not at single workspaces or documents only. */
export const useSeesAll = () => {
  const { workspaces, sees_all_documents } = usePrincipal();
  return workspaces.includes("*") && sees_all_documents;
};
