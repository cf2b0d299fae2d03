import { useQuery } from "@tanstack/react-query";
import { ArrowLeft, MessageCircleQuestion } from "lucide-react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { Link, useParams, useSearchParams } from "react-router";
import { ApiError, data, useApi, useWorkspace } from "../../api/client";
import { useMayWrite, useSeesAllDocuments } from "../../api/principal";
import { useTexts } from "../../texts";
import { CopyButton } from "../../ui/controls";
import { useFormat, useMoney } from "../../ui/format";
import { Failure, Loading, Notice } from "../../ui/notices";
import { ServerText } from "../../ui/ServerText";
import { DocumentAccess } from "../access/DocumentAccess";
import { UploadList } from "../documents/UploadList";
import { isUnderWay, StageBars, StatusBadge } from "../documents/Status";
import type { Document } from "../documents/useDocuments";
import { Validity } from "../validity/Validity";
import { ReceiptList } from "../receipts/ReceiptList";
import { Chunks } from "./Chunks";
import { DocumentActions } from "./DocumentActions";
import { OriginalButton } from "./Original";
import { Tags } from "./Tags";
import { Timeline, Versions } from "./Timeline";

const COUNTED = new Set(["chunks", "extracted", "merged", "embedded", "indexed", "added_sequence", "tags"]);

function Details({ document }: { document: Document }) {
  const texts = useTexts();
  const format = useFormat();
  const known: [string, string][] = [
    [texts.documents.added, format.moment(document.created_at)],
    [texts.documents.updated, format.moment(document.updated_at)],
    [texts.document.characters, format.number(document.content_length)],
    [texts.documents.chunks, format.number(document.chunks_count)],
    [texts.document.id, document.id],
    ...(document.track_id ? ([[texts.document.track, document.track_id]] as [string, string][]) : []),
    ...Object.entries(document.metadata)
      .filter(([name]) => !COUNTED.has(name))
      .map(([name, value]): [string, string] => [name, String(value)]),
  ];
  return (
    <dl className="facts">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <span>{value}</span>
            {(value === document.id || value === document.track_id) && <CopyButton text={value} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** What the models cost that read it. */
function CostOf({ id }: { id: string }) {
  const texts = useTexts().operations;
  const format = useFormat();
  const money = useMoney();
  const api = useApi();
  const cost = useQuery({
    queryKey: [useWorkspace(), "cost", "of", id],
    queryFn: async () => data(await api.GET("/operations/cost", { params: { query: { document: id } } })),
    enabled: useSeesAllDocuments(),
  });
  if (!cost.data || cost.data.total.calls === 0) return null;
  const { total, currency } = cost.data;
  return (
    <p className="hint">
      {texts.spent}: {money(total.money, currency)} · {texts.calls(total.calls)} · {format.number(total.prompt + total.completion)} {texts.tokens}
    </p>
  );
}

/** What may be missing or wrong in what became of it. */
function Warnings({ of }: { of: string[] }) {
  const texts = useTexts();
  if (of.length === 0) return null;
  return (
    <Notice kind="warning" title={texts.document.warnings}>
      <ul className="warnings">
        {of.map((warning) => (
          <li key={warning}><ServerText text={warning} /></li>
        ))}
      </ul>
    </Notice>
  );
}

/** A document that is not there (any more): what the log has of it, and the way to have it again. */
function Gone({ id }: { id: string }) {
  const texts = useTexts();
  return (
    <>
      <Notice kind="warning">{texts.document.unknown}</Notice>
      <Versions id={id} />
      <h2>{texts.receipts.rested}</h2>
      <ReceiptList conditions={{ document: id }} />
    </>
  );
}

/** One document: how far it is, what is known of it, and what it says. */
export default function DocumentPage() {
  const texts = useTexts();
  const api = useApi();
  const workspace = useWorkspace();
  const id = useParams().document ?? "";
  const [params] = useSearchParams();
  const mayWrite = useMayWrite();
  const found = useQuery({
    queryKey: [workspace, "document", id],
    queryFn: async () => {
      try {
        return data(await api.GET("/documents/by_id", { params: { query: { doc_id: id } } }));
      } catch (error) {
        // An answer too: that there is none does not go away while it is asked for again.
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
    refetchInterval: (query) => (query.state.data && isUnderWay(query.state.data.status) ? 1_200 : false),
  });
  const document = found.data;
  const isUnknown = document === null;
  return (
    <div className="page document">
      <Link to={`/${workspace}/documents`} className="back">
        <ArrowLeft size={14} aria-hidden /> {texts.documents.title}
      </Link>
      {found.isPending && <Loading />}
      {isUnknown && <Gone id={id} />}
      {found.error && <Failure error={found.error} retry={() => void found.refetch()} />}
      {document && (
        <>
          <header className="title">
            <h1>{document.file_path}</h1>
            <StatusBadge status={document.status} />
            <Link className="button quiet" to={`/${workspace}/ask?documents=${encodeURIComponent(id)}`}>
              <MessageCircleQuestion size={16} aria-hidden /> {texts.document.askAbout}
            </Link>
            <OriginalButton document={document} />
          </header>
          <div className="toolbar apart">
            <Tags document={document} />
            {mayWrite && <DocumentActions document={document} />}
          </div>
          <UploadList only={document.file_path} />
          {document.error_msg && <Notice kind="error">{document.error_msg}</Notice>}
          <Warnings of={document.warnings ?? []} />
          <StageBars document={document} named />
          <Tabs className="tabs">
            <TabList aria-label={document.file_path} className="tab-list">
              <Tab id="text">{texts.document.text}</Tab>
              <Tab id="events">{texts.document.events}</Tab>
              <Tab id="versions">{texts.document.versions}</Tab>
              <Tab id="answers">{texts.receipts.tab}</Tab>
              <Tab id="details">{texts.document.details}</Tab>
            </TabList>
            <TabPanel id="text">
              <Chunks document={document} cited={params.get("chunk") ?? ""} mark={params.get("mark") ?? ""} />
            </TabPanel>
            <TabPanel id="events">
              <Timeline id={id} />
            </TabPanel>
            <TabPanel id="versions">
              <Versions id={id} />
            </TabPanel>
            <TabPanel id="answers">
              <ReceiptList conditions={{ document: id }} />
            </TabPanel>
            <TabPanel id="details" className="stack">
              <Details document={document} />
              <DocumentAccess document={document} />
              <Validity id={id} />
              <CostOf id={id} />
            </TabPanel>
          </Tabs>
        </>
      )}
    </div>
  );
}
