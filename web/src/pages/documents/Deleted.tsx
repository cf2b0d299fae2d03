import { Undo2 } from "lucide-react";
import { type Api, data, useApi } from "../../api/client";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Failure, Notice } from "../../ui/notices";
import { useChange } from "./useDocuments";

/** Adds a deleted document again, with the text that it had. */
async function addAgain(api: Api, id: string): Promise<void> {
  const query = { type: ["DocumentDeleted" as const], limit: 1, before: Number.MAX_SAFE_INTEGER };
  const { events } = data(await api.GET("/documents/{document_id}/events", { params: { path: { document_id: id }, query } }));
  const last = events.at(-1);
  if (last) await api.POST("/operations/undo", { body: { sequence: last.sequence, reason: "", dry_run: false } });
}

/** Says that documents were deleted, and takes it back. */
export function Deleted({ ids, onDone }: { ids: readonly string[]; onDone: () => void }) {
  const texts = useTexts();
  const api = useApi();
  const undo = useChange(async () => {
    for (const id of ids) await addAgain(api, id);
    onDone();
  });
  if (undo.error) return <Failure error={undo.error} retry={() => undo.mutate(undefined)} />;
  return (
    <Notice>
      <span>{texts.documents.deleted(ids.length)}</span>
      <Button look="quiet" icon={Undo2} isDisabled={undo.isPending} onPress={() => undo.mutate(undefined)}>
        {texts.documents.addAgain}
      </Button>
    </Notice>
  );
}
