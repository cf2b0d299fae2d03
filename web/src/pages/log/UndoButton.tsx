import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Undo2 } from "lucide-react";
import { useState } from "react";
import { data, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Confirm } from "../../ui/dialogs";
import { Failure } from "../../ui/notices";

/** Events that people caused, which can be taken back. */
export const UNDOABLE: ReadonlySet<string> = new Set(["GraphEdited", "DocumentDeleted"]);

/** Takes an event back, after the server has said what that means. */
export function UndoButton({ sequence, onDone }: { sequence: number; onDone?: () => void }) {
  const texts = useTexts();
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const undo = useMutation({
    mutationFn: async (isDry: boolean) => data(await api.POST("/operations/undo", { body: { sequence, reason: "", dry_run: isDry } })),
    onSuccess: ({ published }) => {
      setAsking(!published);
      if (!published) return;
      void queries.invalidateQueries({ queryKey: [workspace] });
      onDone?.();
    },
  });
  return (
    <>
      <Button look="quiet" icon={Undo2} className="small" isDisabled={undo.isPending || undo.data?.published === true} onPress={() => undo.mutate(true)}>
        {undo.data?.published ? texts.log.undone : texts.log.undo}
      </Button>
      {undo.error && <Failure error={undo.error} />}
      <Confirm
        title={texts.log.undoTitle(sequence)}
        text={undo.data?.description ?? ""}
        action={texts.log.undo}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => undo.mutate(false)}
      />
    </>
  );
}
