import { Link, useSearchParams } from "react-router";
import { useWorkspace } from "../../api/client";
import { useTexts } from "../../texts";
import { type Conditions, ReceiptList } from "./ReceiptList";

const KINDS = ["document", "entity", "passage"] as const;

/** Answers that were given: all, or those that rested on the document, the entity or the passage of the address. */
export default function ReceiptsPage() {
  const texts = useTexts().receipts;
  const workspace = useWorkspace();
  const [params] = useSearchParams();
  const conditions: Conditions = {};
  for (const kind of KINDS) {
    const name = params.get(kind);
    if (name) conditions[kind] = name;
  }
  const named = KINDS.filter((kind) => conditions[kind]);
  return (
    <div className="page">
      <header className="title">
        <h1>{texts.title}</h1>
      </header>
      {named.map((kind) => (
        <p key={kind} className="hint">
          {texts.of[kind]} <strong>{conditions[kind]}</strong> · <Link to={`/${workspace}/receipts`}>{texts.all}</Link>
        </p>
      ))}
      <ReceiptList conditions={conditions} />
    </div>
  );
}
