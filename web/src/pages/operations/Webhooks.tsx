import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Play, Plus, RotateCw, Send, Trash2, Webhook as WebhookIcon } from "lucide-react";
import { useState } from "react";
import { type Api, data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Confirm } from "../../ui/dialogs";
import { useFormat } from "../../ui/format";
import { Empty, Failure, Loading, Notice } from "../../ui/notices";
import { AddWebhook, Replay } from "./WebhookDialogs";

export type Webhook = Schemas["Webhook"];

const LOOKS: Record<string, string> = { active: "processed", failing: "partial", disabled: "failed" };

/** The steps that one webhook may take, each of which returns words to show, or none. */
function steps(api: Api, id: string, answered: (status: number | null) => string) {
  const params = { path: { webhook_id: id } };
  return {
    test: async () => {
      const { delivered, status, error } = data(await api.POST("/operations/webhooks/{webhook_id}/test", { params }));
      if (!delivered) throw new Error(error ?? answered(status));
      return answered(status);
    },
    enable: async () => {
      await api.POST("/operations/webhooks/{webhook_id}/enable", { params });
      return "";
    },
    remove: async () => {
      await api.DELETE("/operations/webhooks/{webhook_id}", { params });
      return "";
    },
  };
}

function WebhookRow({ webhook }: { webhook: Webhook }) {
  const texts = useTexts().operations;
  const format = useFormat();
  const api = useApi();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const queries = useQueryClient();
  const [dialog, setDialog] = useState<"" | "replay" | "remove">("");
  const step = useMutation({
    mutationFn: (what: keyof ReturnType<typeof steps>) => steps(api, webhook.id, texts.tested)[what](),
    onSettled: () => queries.invalidateQueries({ queryKey: [workspace, "webhooks"] }),
  });
  return (
    <li>
      <div>
        <p>
          <strong>{webhook.url}</strong> <span className={`badge ${LOOKS[webhook.state] ?? ""}`}>{texts.webhookStates[webhook.state]}</span>
        </p>
        <p className="hint">
          {webhook.types.join(", ")} · {texts.behind(webhook.lag)}
          {webhook.last_success && ` · ${format.ago(webhook.last_success)}`}
        </p>
        {webhook.last_error && <p className="fault">{webhook.last_error}</p>}
        {step.data && <Notice>{step.data}</Notice>}
        {step.error && <Failure error={step.error} />}
      </div>
      {mayWrite && (
        <>
          {webhook.state === "disabled" && <Button look="quiet" icon={Play} label={texts.enable} onPress={() => step.mutate("enable")} />}
          <Button look="quiet" icon={Send} label={texts.test} isDisabled={step.isPending} onPress={() => step.mutate("test")} />
          <Button look="quiet" icon={RotateCw} label={texts.replay} onPress={() => setDialog("replay")} />
          <Button look="quiet" icon={Trash2} label={texts.remove} onPress={() => setDialog("remove")} />
        </>
      )}
      {dialog === "replay" && <Replay webhook={webhook} onClose={() => setDialog("")} />}
      <Confirm
        title={texts.sure(texts.remove, webhook.url)}
        text={texts.removeText}
        action={texts.remove}
        isOpen={dialog === "remove"}
        onClose={() => setDialog("")}
        onConfirm={() => step.mutate("remove")}
      />
    </li>
  );
}

/** Who is told what happens in the workspace. */
export function Webhooks() {
  const texts = useTexts().operations;
  const api = useApi();
  const mayWrite = useMayWrite();
  const [isAdding, setAdding] = useState(false);
  const webhooks = useQuery({
    queryKey: [useWorkspace(), "webhooks"],
    queryFn: async () => data(await api.GET("/operations/webhooks")).webhooks,
    refetchInterval: 5_000,
  });
  if (webhooks.isPending) return <Loading />;
  if (webhooks.error) return <Failure error={webhooks.error} retry={() => void webhooks.refetch()} />;
  return (
    <>
      {mayWrite && (
        <Button icon={Plus} className="first-of-panel" onPress={() => setAdding(true)}>
          {texts.addWebhook}
        </Button>
      )}
      {webhooks.data.length === 0 && (
        <Empty icon={WebhookIcon} title={texts.noWebhooks}>
          <p>{texts.webhooksText}</p>
        </Empty>
      )}
      <ul className="letters webhooks">
        {webhooks.data.map((webhook) => (
          <WebhookRow key={webhook.id} webhook={webhook} />
        ))}
      </ul>
      {isAdding && <AddWebhook onClose={() => setAdding(false)} />}
    </>
  );
}
