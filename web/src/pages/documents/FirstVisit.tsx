import { Anchor } from "lucide-react";
import { useApi } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { Empty, Failure } from "../../ui/notices";
import { SAMPLE } from "./sample";
import { useChange } from "./useDocuments";

/** What an empty workspace says: what to do, and a small example to try it with. */
export function FirstVisit() {
  const texts = useTexts();
  const api = useApi();
  const mayWrite = useMayWrite();
  const add = useChange(() =>
    api.POST("/documents/texts", {
      body: { texts: Object.values(SAMPLE), file_sources: Object.keys(SAMPLE) },
    }),
  );
  return (
    <Empty icon={Anchor} title={texts.documents.empty}>
      <p>{mayWrite ? texts.documents.emptyText : texts.common.readOnly}</p>
      {add.error && <Failure error={add.error} />}
      {mayWrite && (
        <Button look="primary" isDisabled={add.isPending} onPress={() => add.mutate(undefined)}>
          {texts.documents.sample}
        </Button>
      )}
    </Empty>
  );
}
