import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { GitBranch } from "lucide-react";
import { useState } from "react";
import { data, useApi, useWorkspace } from "../../api/client";
import { useMayWrite, useSeesAll } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Empty, Failure, Loading } from "../../ui/notices";
import { BranchForm } from "./BranchForm";
import { BranchOrder, useBranchOrders } from "./BranchOrder";
import { BranchRow } from "./BranchRow";

/** The branches of the workspace; each is looked at and asked as a workspace of its own. */
export function Branches() {
  const texts = useTexts().operations.branchTab;
  const api = useApi();
  const workspace = useWorkspace();
  const seesAll = useSeesAll();
  const mayOrder = useMayWrite() && seesAll;
  const orders = useBranchOrders();
  const [isMaking, setMaking] = useState(false);
  const branches = useQuery({
    queryKey: [workspace, "branches", orders.data?.last?.id, orders.data?.last?.state],
    queryFn: async () => data(await api.GET("/branches")),
    placeholderData: keepPreviousData,
  });
  const last = orders.data?.last;
  if (branches.isPending) return <Loading />;
  if (branches.error) return <Failure error={branches.error} retry={() => void branches.refetch()} />;
  return (
    <>
      <p className="hint">{texts.text}</p>
      {last && <BranchOrder last={last} />}
      {mayOrder && !isMaking && (
        <div className="add">
          <Button look="primary" icon={GitBranch} onPress={() => setMaking(true)}>
            {texts.make}
          </Button>
        </div>
      )}
      {isMaking && <BranchForm orders={orders.data} onClose={() => setMaking(false)} />}
      {branches.data.length === 0 && <Empty icon={GitBranch} title={texts.none} />}
      <section className="letters" aria-label={texts.title}>
        <ul>
          {branches.data.map((branch) => (
            <BranchRow
              key={branch.name}
              branch={branch}
              isBusy={last?.state === "running"}
              isLeaving={last?.step === "branch-drop" && last.branch === branch.name && last.state !== "failed"}
            />
          ))}
        </ul>
      </section>
    </>
  );
}
