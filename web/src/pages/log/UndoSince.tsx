import { useMutation, useQueryClient } from "@tanstack/react-query";
import { History } from "lucide-react";
import { data, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/dialogs";
import { Failure } from "../../ui/notices";
import { ServerText } from "../../ui/ServerText";

/** Descriptions that are read before somebody agrees. */
const LISTED = 20;

/** Takes back all behind a sequence as one act, after the server has said what that is and what stays. */
export function UndoSince({ sequence, day }: { sequence: number; day: string }) {
  const texts = useTexts();
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const undo = useMutation({
    mutationFn: async (isDry: boolean) => data(await api.POST("/operations/undo_since", { body: { since: String(sequence), reason: "", dry_run: isDry } })),
    onSuccess: ({ published }) => {
      if (published) void queries.invalidateQueries({ queryKey: [workspace] });
    },
  });
  const plan = undo.data?.published === false ? undo.data : undefined;
  const undone = plan?.undone ?? [];
  const left = plan?.left.length ?? 0;
  return (
    <>
      <Button look="quiet" icon={History} className="small" isDisabled={undo.isPending} onPress={() => undo.mutate(true)} aria-label={texts.log.undoSinceOf(day)}>
        {texts.log.undoSince}
      </Button>
      {undo.error && <Failure error={undo.error} />}
      <Dialog title={texts.log.undoSinceTitle(undone.length)} isOpen={plan !== undefined} onClose={() => undo.reset()}>
        <ul className="planned">
          {undone.slice(0, LISTED).map((one) => (
            <li key={one.sequence}><ServerText text={one.description} /></li>
          ))}
        </ul>
        {undone.length > LISTED && <p className="hint">{texts.documents.moreUploads(undone.length - LISTED)}</p>}
        {left > 0 && <p className="hint">{texts.log.stays(left)}</p>}
        <div className="actions">
          <Button onPress={() => undo.reset()}>{texts.common.cancel}</Button>
          <Button look="danger" isDisabled={undo.isPending || undone.length === 0} onPress={() => undo.mutate(false)}>
            {texts.log.undo}
          </Button>
        </div>
      </Dialog>
    </>
  );
}
