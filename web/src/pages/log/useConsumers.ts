import { useQuery } from "@tanstack/react-query";
import { data, useApi } from "../../api/client";
import { remember } from "./series";

const INTERVAL = 2_000;

/** How far each consumer of the deployment is behind the log; for those only whose credentials are for all of it. */
export function useConsumers(isEnabled = true) {
  const api = useApi();
  return useQuery({
    queryKey: ["", "consumers"],
    queryFn: async () => {
      const found = data(await api.GET("/operations/consumers")).consumers;
      remember(found);
      return found;
    },
    enabled: isEnabled,
    refetchInterval: INTERVAL,
  });
}
