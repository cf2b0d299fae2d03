import { useQuery } from "@tanstack/react-query";
import { CalendarClock } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useDocumentName } from "../../api/documentNames";
import { useMayWrite, useSeesAllDocuments } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button } from "../../ui/controls";
import { useFormat } from "../../ui/format";
import { Failure } from "../../ui/notices";
import { ValidityDialog } from "./ValidityDialog";

function DocumentLink({ id }: { id: string }) {
  return <Link to={`/${useWorkspace()}/documents/${encodeURIComponent(id)}`}>{useDocumentName(id) || id}</Link>;
}

function Documents({ title, ids }: { title: string; ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {ids.map((id) => (
          <span key={id}>
            <DocumentLink id={id} />
          </span>
        ))}
      </dd>
    </div>
  );
}

function Facts({ validity }: { validity: Schemas["DocumentValidity"] }) {
  const texts = useTexts().validity;
  const format = useFormat();
  const { valid_from, valid_until, supersedes, superseded_by, coexists_with, authority, is_stated } = validity;
  const times = [valid_from && texts.from(format.day(valid_from)), valid_until && texts.until(format.day(valid_until))].filter(Boolean);
  return (
    <dl className="facts">
      <div>
        <dt>{texts.title}</dt>
        <dd>
          <span>{times.join(" · ") || texts.always}</span>
          {authority !== 0 && <span>{texts.authorityOf(authority)}</span>}
          {is_stated && <span className="hint">{texts.stated}</span>}
        </dd>
      </div>
      <Documents title={texts.supersedes} ids={supersedes} />
      <Documents title={texts.supersededBy} ids={superseded_by} />
      <Documents title={texts.coexists} ids={coexists_with} />
    </dl>
  );
}

/** When a document holds, what it supersedes and what supersedes it. Whoever does not see everything is not told. */
export function Validity({ id }: { id: string }) {
  const texts = useTexts().validity;
  const api = useApi();
  const mayWrite = useMayWrite();
  const seesAllDocuments = useSeesAllDocuments();
  const [isOpen, setOpen] = useState(false);
  const found = useQuery({
    queryKey: [useWorkspace(), "validity", id],
    queryFn: async () => data(await api.GET("/documents/{document_id}/validity", { params: { path: { document_id: id } } })),
    enabled: seesAllDocuments,
  });
  if (found.error) return <Failure error={found.error} retry={() => void found.refetch()} />;
  if (!found.data) return null;
  return (
    <>
      <Facts validity={found.data} />
      {mayWrite && (
        <Button look="quiet" icon={CalendarClock} onPress={() => setOpen(true)}>
          {texts.change}
        </Button>
      )}
      {isOpen && <ValidityDialog validity={found.data} onClose={() => setOpen(false)} />}
    </>
  );
}
