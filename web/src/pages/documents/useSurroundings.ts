import { useQuery } from "@tanstack/react-query";
import { data, useApi, useWorkspace } from "../../api/client";
import { useSeesAll } from "../../api/principal";
import { useConsumers } from "../log/useConsumers";
import { batchIn, type Surroundings } from "./waiting";

const INTERVAL = 5_000;

/** What may keep documents waiting; of the deployment only for those who see all of it. */
export function useSurroundings(isWorking: boolean): Surroundings {
  const api = useApi();
  const isShown = useSeesAll() && isWorking;
  const consumers = useConsumers(isShown);
  const providers = useQuery({
    queryKey: ["", "providers"],
    queryFn: async () => data(await api.GET("/operations/providers")).providers,
    enabled: isShown,
    refetchInterval: INTERVAL,
  });
  const workspace = useWorkspace();
  const parked = useQuery({
    queryKey: [workspace, "parked"],
    queryFn: async () => data(await api.GET("/operations/parked")).parked,
    enabled: isShown,
    refetchInterval: INTERVAL,
  });
  const budget = useQuery({
    queryKey: [workspace, "costs", "budget"],
    queryFn: async () => data(await api.GET("/operations/budget")),
    enabled: isWorking,
    refetchInterval: INTERVAL,
  });
  return {
    consumers: consumers.data ?? [],
    providers: providers.data ?? [],
    exceeded: budget.data?.exceeded ?? "",
    batch: batchIn(parked.data ?? []),
  };
}
