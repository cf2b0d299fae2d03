import { Undo2 } from "lucide-react";
import { useApi } from "../../api/client";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Failure, Notice } from "../../ui/notices";
import { addAgain } from "./addAgain";
import { useChange } from "./useDocuments";

/** Says that documents were deleted, and takes it back. */
export function Deleted({ ids, onDone }: { ids: readonly string[]; onDone: () => void }) {
  const texts = useTexts();
  const api = useApi();
  const undo = useChange(async () => {
    await addAgain(api, ids);
    onDone();
  });
  if (undo.error) return <Failure error={undo.error} retry={() => undo.mutate(undefined)} />;
  return (
    <Notice>
      <span>{texts.documents.deleted(ids.length)}</span>
      <Button look="quiet" icon={Undo2} isDisabled={undo.isPending} onPress={() => undo.mutate(undefined)}>
        {undo.isPending ? texts.documents.addingAgain(ids.length) : texts.documents.addAgain}
      </Button>
    </Notice>
  );
}
