import { useQuery } from "@tanstack/react-query";
import { ReceiptText } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { useFormat } from "../../ui/format";
import { Empty, Failure, Loading } from "../../ui/notices";

type Summary = Schemas["ReceiptSummary"];

/** On what the answers rested; nothing: all answers. */
export interface Conditions {
  document?: string;
  entity?: string;
  passage?: string;
}

const LISTED = 200;

const hasChanged = ({ changed_passages, edited_items }: Summary) => changed_passages + edited_items > 0;

function Row({ receipt }: { receipt: Summary }) {
  const texts = useTexts().receipts;
  const format = useFormat();
  const workspace = useWorkspace();
  const { id, form, question, asked_at, asker, passages, changed_passages: changed, edited_items: edited } = receipt;
  return (
    <li>
      <p>
        <Link to={`/${workspace}/receipts/${id}`}>{question ?? (form === "erased" ? texts.wordsErased : texts.hashed)}</Link>
        {changed > 0 && <span className="badge failed">{texts.changed(changed, passages)}</span>}
        {edited > 0 && <span className="badge failed">{texts.edited(edited)}</span>}
      </p>
      <p className="hint">{[format.moment(asked_at), asker, receipt.mode].filter(Boolean).join(" · ")}</p>
    </li>
  );
}

/** Answers that were recorded, the newest first, with a mark at those that read what has changed since. */
export function ReceiptList({ conditions }: { conditions: Conditions }) {
  const texts = useTexts().receipts;
  const api = useApi();
  const [isNarrow, setNarrow] = useState(false);
  const receipts = useQuery({
    queryKey: [useWorkspace(), "receipts", conditions],
    queryFn: async () => data(await api.GET("/receipts", { params: { query: { limit: LISTED, ...conditions } } })).receipts,
  });
  if (receipts.isPending) return <Loading />;
  if (receipts.error) return <Failure error={receipts.error} retry={() => void receipts.refetch()} />;
  if (receipts.data.length === 0)
    return (
      <Empty icon={ReceiptText} title={texts.none}>
        <p>{texts.noneText}</p>
      </Empty>
    );
  const hasChanges = receipts.data.some(hasChanged);
  return (
    <>
      {hasChanges && (
        <Button look="quiet" aria-pressed={isNarrow} onPress={() => setNarrow(!isNarrow)}>
          {texts.onlyChanged}
        </Button>
      )}
      <ul className="letters" aria-label={texts.title}>
        {receipts.data
          .filter((receipt) => !isNarrow || hasChanged(receipt))
          .map((receipt) => (
            <Row key={receipt.id} receipt={receipt} />
          ))}
      </ul>
    </>
  );
}
