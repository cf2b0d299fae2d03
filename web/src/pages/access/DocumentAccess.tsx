import { useQuery } from "@tanstack/react-query";
import { Eye } from "lucide-react";
import { useState } from "react";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useMayWrite, useSeesAllDocuments } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { useFormat } from "../../ui/format";
import { Failure } from "../../ui/notices";
import type { Document } from "../documents/useDocuments";
import { AccessDialog } from "./AccessDialog";

function Principals({ title, names }: { title: string; names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <span>{names.join(", ")}</span>
      </dd>
    </div>
  );
}

function Facts({ stated }: { stated: Schemas["DocumentAccess"] }) {
  const texts = useTexts().access;
  const format = useFormat();
  const { access, changed_at, changed_by, older_lists } = stated;
  const isOpen = access === null || (access.allow.includes("everyone") && access.deny.length === 0);
  return (
    <dl className="facts">
      <div>
        <dt>{texts.title}</dt>
        <dd>
          {isOpen && <span>{texts.everyone}</span>}
          {access?.allow.length === 0 && <span>{texts.nobody}</span>}
          {changed_at && <span className="hint">{texts.changed(format.moment(changed_at), changed_by ?? "")}</span>}
        </dd>
      </div>
      {!isOpen && <Principals title={texts.allowed} names={access.allow} />}
      {!isOpen && <Principals title={texts.denied} names={access.deny} />}
      {older_lists.map((older) => (
        <Principals
          key={`${older.allow.join()} ${older.deny.join()}`}
          title={texts.older}
          names={[...(older.allow.length ? older.allow : [texts.nobody]), ...older.deny.map(texts.not)]}
        />
      ))}
    </dl>
  );
}

/** Who may see a document. Whoever does not see everything is not told. */
export function DocumentAccess({ document }: { document: Document }) {
  const texts = useTexts().access;
  const api = useApi();
  const mayWrite = useMayWrite();
  const seesAllDocuments = useSeesAllDocuments();
  const [isOpen, setOpen] = useState(false);
  const found = useQuery({
    queryKey: [useWorkspace(), "access", document.id],
    queryFn: async () => data(await api.GET("/documents/access", { params: { query: { doc_id: document.id } } })),
    enabled: seesAllDocuments,
  });
  if (found.error) return <Failure error={found.error} retry={() => void found.refetch()} />;
  if (!found.data) return null;
  return (
    <>
      <Facts stated={found.data} />
      {mayWrite && (
        <Button look="quiet" icon={Eye} onPress={() => setOpen(true)}>
          {texts.change}
        </Button>
      )}
      {isOpen && <AccessDialog document={document} access={found.data.access} onClose={() => setOpen(false)} />}
    </>
  );
}
