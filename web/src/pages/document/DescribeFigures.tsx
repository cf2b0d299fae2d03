import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Images } from "lucide-react";
import { useEffect, useState } from "react";
import { Checkbox } from "react-aria-components";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useMayWrite, useSeesAll } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { useFormat } from "../../ui/format";
import { Failure, Notice } from "../../ui/notices";
import { type Estimate, EstimatedCost } from "../operations/EstimatedCost";

const WATCHED = 1_000;
const IDLE = 10_000;

type Last = Schemas["LastFiguresOrder"];

/** What became of the last order about figures, asked again while it is worked on. */
function useFigureOrders() {
  const api = useApi();
  const workspace = useWorkspace();
  return useQuery({
    queryKey: [workspace, "figure-orders"],
    queryFn: async () => data(await api.GET("/operations/figures")),
    refetchInterval: (query) => (query.state.data?.last?.state === "running" ? WATCHED : IDLE),
  });
}

/** The last order, with its estimate, what it asked for, or why it failed. */
function FigureOrder({ last }: { last: Last }) {
  const texts = useTexts();
  const words = texts.document.describing;
  const format = useFormat();
  const count = Number(last.result.figures ?? 0);
  const hasEnded = last.state === "done";
  return (
    <div className={`last-order ${last.state}`} role="status">
      <p>
        <strong>{words.steps[last.step] ?? last.step}</strong> {texts.operations.orderStates[last.state]}
        <span className="hint">{[" ", format.ago(last.ended || last.started), last.who].filter(Boolean).join(" · ")}</span>
      </p>
      {last.error && <p className="fault">{last.error}</p>}
      {hasEnded && count === 0 && <p>{words.nothing}</p>}
      {hasEnded && count > 0 && last.step === "figures-estimate" && (
        <EstimatedCost estimate={last.result as unknown as Estimate}>{words.estimated(count)}</EstimatedCost>
      )}
      {hasEnded && count > 0 && last.step === "figures-describe" && <p>{words.ordered(count)}</p>}
    </div>
  );
}

/** Whether what was ordered here came to its end at this step. */
const isDone = (last: Last | undefined, step: string) => last?.step === step && last.state === "done";

/** Orders a step for these documents, and follows what becomes of it. */
function useFigureSteps(documents: readonly string[], again: boolean) {
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const orders = useFigureOrders();
  const [orderId, setOrderId] = useState("");
  const order = useMutation({
    mutationFn: async (step: "estimate" | "describe") => {
      const body = { documents: [...documents], again, reason: "" };
      setOrderId(data(await api.POST("/operations/figures/{step}", { params: { path: { step } }, body })).id);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: [workspace, "figure-orders"] }),
  });
  const last = orders.data?.last ?? undefined;
  const own = last?.id === orderId ? last : undefined;
  const isUnderWay = last?.state === "running" || order.isPending || (orderId !== "" && !own);
  const isOrdered = isDone(own, "figures-describe");
  useEffect(() => {
    if (isOrdered) void Promise.all(["documents", "document", "chunks"].map((what) => queries.invalidateQueries({ queryKey: [workspace, what] })));
  }, [isOrdered, queries, workspace]);
  return {
    give: order.mutate,
    forget: () => setOrderId(""),
    own,
    error: order.error ?? orders.error,
    takesOrders: orders.data?.takes_orders,
    isBusy: isUnderWay || !orders.data?.takes_orders,
    isOrdered,
  };
}

/** Asks for an estimate first, then for the descriptions themselves. */
function DescribeForm({ documents, onClose }: { documents: readonly string[]; onClose: () => void }) {
  const texts = useTexts();
  const words = texts.document.describing;
  const [isAgain, setAgain] = useState(false);
  const { give, forget, own, error, takesOrders, isBusy, isOrdered } = useFigureSteps(documents, isAgain);
  const isEstimated = isDone(own, "figures-estimate") && Number(own?.result.figures ?? 0) > 0;
  const choose = (again: boolean) => {
    setAgain(again);
    forget();
  };
  return (
    <>
      <p>{words.text}</p>
      {takesOrders === false && <Notice kind="warning">{texts.operations.noOperator}</Notice>}
      {error && <Failure error={error} />}
      <Checkbox className="tick" isSelected={isAgain} onChange={choose} isDisabled={isBusy}>
        <span className="mark" aria-hidden />
        {words.again}
      </Checkbox>
      {own && <FigureOrder last={own} />}
      <div className="actions">
        <Button onPress={onClose}>{isOrdered ? texts.common.close : texts.common.cancel}</Button>
        <Button isDisabled={isBusy} onPress={() => give("estimate")}>
          {words.estimate}
        </Button>
        <Button look="primary" isDisabled={isBusy || !isEstimated} onPress={() => give("describe")}>
          {words.describe}
        </Button>
      </div>
    </>
  );
}

/** Has figures of these documents described, for who may order it. */
export function DescribeFigures({ documents }: { documents: readonly string[] }) {
  const words = useTexts().document.describing;
  const seesAll = useSeesAll();
  const mayOrder = useMayWrite() && seesAll;
  const [isOpen, setOpen] = useState(false);
  if (!mayOrder) return null;
  return (
    <>
      <Button look="quiet" icon={Images} onPress={() => setOpen(true)}>
        {words.title}
      </Button>
      <Dialog title={words.title} isOpen={isOpen} onClose={() => setOpen(false)}>
        <DescribeForm documents={documents} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  );
}
