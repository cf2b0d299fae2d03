import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowLeft, ArrowLeftRight, Check, Combine, Undo2, X } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { data, type Schemas, useApi, useWorkspace } from "../../api/client";
import { useMayWrite } from "../../api/principal";
import { useTexts } from "../../texts";
import { Button, Select } from "../../ui/controls";
import { useFormat } from "../../ui/format";
import { Empty, Failure, Loading } from "../../ui/notices";

const RULES = ["same", "spelling", "plural", "title", "abbreviation", "surname"] as const;
type Rule = (typeof RULES)[number];

/** Proposals that are listed at once. */
const LISTED = 100;

interface Names {
  name: string;
  entity: string;
}
type Decision = Schemas["AliasDecisionRequest"]["decision"];

/** Decides on names, and has what is shown of them asked for anew. */
function useDecision() {
  const api = useApi();
  const workspace = useWorkspace();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ decision, pairs }: { decision: Decision; pairs: readonly (Names & { proposed_by: string; evidence: string })[] }) => {
      for (const { name, entity, proposed_by, evidence } of pairs)
        await api.POST("/graph/aliases", { body: { decision, names: [name], entity, proposed_by, evidence } });
    },
    onSettled: () => Promise.all(["aliases", "names"].map((what) => queries.invalidateQueries({ queryKey: [workspace, what] }))),
  });
}

function EntityLink({ name }: { name: string }) {
  return <Link to={`/${useWorkspace()}/graph?entity=${encodeURIComponent(name)}`}>{name}</Link>;
}

function useReason(): (proposedBy: string) => string {
  const texts = useTexts().graph;
  return (proposedBy) => {
    const rule = proposedBy.replace(/^rule:/, "");
    return texts.rules[rule] ?? (proposedBy ? texts.proposedBy(proposedBy.replace(/^model:/, "")) : "");
  };
}

type ProposalProps = { proposal: Schemas["AliasProposalEntry"]; decide: ReturnType<typeof useDecision> };

function Proposal({ proposal, decide }: ProposalProps) {
  const texts = useTexts();
  const mayWrite = useMayWrite();
  const reason = useReason();
  const [isSwapped, setSwapped] = useState(false);
  const { evidence = "", support = 0, proposed_by } = proposal;
  const [name, entity] = isSwapped ? [proposal.entity, proposal.name] : [proposal.name, proposal.entity];
  const pairs = [{ name, entity, proposed_by, evidence }];
  return (
    <li>
      <div>
        <EntityLink name={name} /> <span className="hint">{texts.graph.means}</span> <strong><EntityLink name={entity} /></strong>
        <p className="hint">{[reason(proposed_by), evidence, support > 0 && texts.graph.support(support)].filter(Boolean).join(" · ")}</p>
      </div>
      {mayWrite && (
        <div className="tools">
          <Button look="quiet" icon={ArrowLeftRight} label={texts.graph.swap(entity, name)} onPress={() => setSwapped(!isSwapped)} />
          <Button icon={Check} isDisabled={decide.isPending} onPress={() => decide.mutate({ decision: "accept", pairs })} aria-label={texts.graph.acceptOf(name, entity)}>
            {texts.graph.accept}
          </Button>
          <Button look="quiet" icon={X} isDisabled={decide.isPending} onPress={() => decide.mutate({ decision: "reject", pairs })} aria-label={texts.graph.rejectOf(name, entity)}>
            {texts.graph.reject}
          </Button>
        </div>
      )}
    </li>
  );
}

/** What was decided, the newest first, each to be taken back. */
function Decided({ decide }: { decide: ReturnType<typeof useDecision> }) {
  const texts = useTexts();
  const format = useFormat();
  const api = useApi();
  const mayWrite = useMayWrite();
  const decided = useQuery({
    queryKey: [useWorkspace(), "aliases", "decided"],
    queryFn: async () => data(await api.GET("/graph/aliases")).filter(({ state }) => state !== "proposed"),
  });
  if (!decided.data?.length) return decided.error ? <Failure error={decided.error} retry={() => void decided.refetch()} /> : null;
  return (
    <section className="letters" aria-label={texts.graph.decided}>
      <h2>{texts.graph.decided}</h2>
      <ul>
        {[...decided.data]
          .sort((one, other) => other.at - one.at)
          .slice(0, LISTED)
          .map(({ name, entity, state, at, editor, proposed_by = "", evidence = "" }) => (
            <li key={`${name}\n${entity}`}>
              <div>
                {name} <span className="hint">{state === "accepted" ? texts.graph.isOne : texts.graph.meansNot}</span> <EntityLink name={entity} />
                <p className="hint">{[format.moment(at / 1000), editor].filter(Boolean).join(" · ")}</p>
              </div>
              {mayWrite && (
                <Button
                  look="quiet"
                  icon={Undo2}
                  isDisabled={decide.isPending}
                  aria-label={texts.graph.undoOf(name, entity)}
                  onPress={() => decide.mutate({ decision: "undo", pairs: [{ name, entity, proposed_by, evidence }] })}
                >
                  {texts.log.undo}
                </Button>
              )}
            </li>
          ))}
      </ul>
    </section>
  );
}

/** Names that may mean the same entity, to be merged or kept apart. */
export default function NamesPage() {
  const texts = useTexts();
  const api = useApi();
  const workspace = useWorkspace();
  const mayWrite = useMayWrite();
  const [rule, setRule] = useState<Rule | "all">("all");
  const decide = useDecision();
  const proposals = useQuery({
    queryKey: [workspace, "aliases", "proposals", rule],
    queryFn: async () => data(await api.GET("/graph/aliases/proposals", { params: { query: { limit: LISTED, ...(rule === "all" ? {} : { rule: [rule] }) } } })),
  });
  // Of this rule no name that is merged is left for another proposal, so that all can be merged at once.
  const isWhole = rule === "same" && (proposals.data?.length ?? 0) > 1;
  const pairs = (proposals.data ?? []).map(({ name, entity, proposed_by, evidence = "" }) => ({ name, entity, proposed_by, evidence }));
  return (
    <div className="page">
      <Link to={`/${workspace}/graph`} className="back">
        <ArrowLeft size={14} aria-hidden /> {texts.nav.graph}
      </Link>
      <header className="title">
        <h1>{texts.graph.names}</h1>
        <div className="add">
          <Select
            label={texts.graph.rule}
            hideLabel
            value={rule}
            onChange={setRule}
            choices={[{ id: "all" as const, name: texts.graph.allRules }, ...RULES.map((id) => ({ id, name: texts.graph.rules[id] ?? id }))]}
          />
          {isWhole && mayWrite && (
            <Button icon={Combine} isDisabled={decide.isPending} onPress={() => decide.mutate({ decision: "accept", pairs })}>
              {texts.graph.acceptAll(pairs.length)}
            </Button>
          )}
        </div>
      </header>
      <p className="hint">{texts.graph.namesText}</p>
      {decide.error && <Failure error={decide.error} />}
      {proposals.error && <Failure error={proposals.error} retry={() => void proposals.refetch()} />}
      {proposals.isPending && <Loading />}
      {proposals.data?.length === 0 && <Empty icon={Combine} title={texts.graph.noProposals} />}
      {pairs.length > 0 && (
        <section className="letters" aria-label={texts.graph.proposals}>
          <ul>
            {proposals.data?.map((proposal) => <Proposal key={`${proposal.name}\n${proposal.entity}`} proposal={proposal} decide={decide} />)}
          </ul>
        </section>
      )}
      <Decided decide={decide} />
    </div>
  );
}
