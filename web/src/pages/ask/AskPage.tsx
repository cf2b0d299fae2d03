import { FilterX, History, MessageCircleQuestion, MessageSquarePlus, SendHorizontal, SlidersHorizontal } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useRef, useState, useSyncExternalStore } from "react";
import { useSearchParams } from "react-router";
import { useWorkspace } from "../../api/client";
import { useConfiguration } from "../../api/configuration";
import { StateNotice } from "../../shell/StateNotice";
import { useTexts } from "../../texts";
import { Button, Select, TextInput } from "../../ui/controls";
import { useFollowing } from "../../ui/following";
import { Empty } from "../../ui/notices";
import { ModelNotice } from "../documents/ModelNotice";
import { begin, beginTwo, forget, sideBySide, takeUp, turns } from "./conversation";
import { keep, type SavedConversation } from "./conversations";
import { ConversationsDialog } from "./ConversationsDialog";
import { ofFilter, toFilter } from "./documentFilter";
import { FilterFields } from "./FilterFields";
import { EFFORTS, fromAddress, MODES, type Parameters, toQuestion } from "./parameters";
import { SampleQuestions } from "./SampleQuestions";
import { TurnView } from "./TurnView";
import { useConversations } from "./useConversations";
import { inMode } from "./walks";

/** No filter: all documents. */
const EVERYTHING = ofFilter(undefined);

const BUDGETS = [
  ["max_entity_tokens", "entities"],
  ["max_relation_tokens", "relations"],
  ["max_total_tokens", "total"],
] as const;

function ParameterPanel({ given, onChange }: { given: Parameters; onChange: (given: Parameters) => void }) {
  const texts = useTexts();
  const serverMode = useConfiguration()?.default_mode ?? "";
  const server = { id: "" as const, name: texts.ask.modeServer, hint: texts.ask.modeServerHint(serverMode) };
  const set = (change: Partial<Parameters>) => onChange({ ...given, ...change });
  return (
    <aside className="parameters" aria-label={texts.ask.parameters}>
      <Select
        label={texts.ask.mode}
        value={given.mode}
        onChange={(mode) => set({ mode })}
        choices={[server, ...MODES.map((id) => ({ id, name: id, hint: texts.ask.modes[id] }))]}
      />
      <Select
        label={texts.ask.compare}
        value={given.compare}
        onChange={(compare) => set({ compare })}
        choices={[{ id: "" as const, name: texts.ask.compareNone }, ...MODES.filter((id) => id !== given.mode).map((id) => ({ id, name: id, hint: texts.ask.modes[id] }))]}
      />
      <Select
        label={texts.ask.effort}
        value={given.effort}
        onChange={(effort) => set({ effort })}
        choices={EFFORTS.map((id) => ({ id, name: texts.ask.efforts[id], hint: texts.ask.effortHints[id] }))}
      />
      <TextInput label={texts.ask.topK} value={given.top_k} onChange={(top_k) => set({ top_k })} placeholder={texts.ask.server} />
      <TextInput label={texts.ask.chunkTopK} value={given.chunk_top_k} onChange={(chunk_top_k) => set({ chunk_top_k })} placeholder={texts.ask.server} />
      {BUDGETS.map(([name, part]) => (
        <TextInput key={name} label={texts.ask.tokens[part]} value={given[name]} onChange={(value) => set({ [name]: value })} placeholder={texts.ask.server} />
      ))}
      <TextInput label={texts.ask.form} value={given.response_type} onChange={(response_type) => set({ response_type })} placeholder={texts.ask.formExample} />
      <FilterFields given={given} onChange={set} />
      <TextInput label={texts.ask.instructions} value={given.user_prompt} onChange={(user_prompt) => set({ user_prompt })} rows={3} />
    </aside>
  );
}

function AskForm({ initial, onAsk }: { initial: string; onAsk: (query: string) => void }) {
  const texts = useTexts();
  const [query, setQuery] = useState(initial);
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (query.trim().length < 2) return;
    onAsk(query.trim());
    setQuery("");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes, Enter chooses characters.
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      send();
    }
  };
  return (
    <form className="ask-form" onSubmit={send}>
      <textarea
        aria-label={texts.ask.question}
        placeholder={texts.ask.placeholder}
        value={query}
        onChange={(event) => setQuery(event.target.value)}
        onKeyDown={onKeyDown}
        rows={2}
      />
      <Button type="submit" look="primary" icon={SendHorizontal} isDisabled={query.trim().length < 2}>
        {texts.ask.send}
      </Button>
    </form>
  );
}

/** Questions and answers. */
export default function AskPage() {
  const workspace = useWorkspace();
  // Documents that questions are about belong to one workspace.
  return <Conversation key={workspace} workspace={workspace} />;
}

/** An id that no other conversation of this browser has; `crypto.randomUUID` wants https. */
const newId = () => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;

/** The id of the conversation of a workspace that goes on in this tab. */
function useConversationId(workspace: string) {
  const place = `lightstream.conversation.${workspace}`;
  const [id, setId] = useState(() => sessionStorage.getItem(place) || newId());
  const change = (next: string) => {
    sessionStorage.setItem(place, next);
    setId(next);
  };
  return [id, change] as const;
}

function Conversation({ workspace }: { workspace: string }) {
  const texts = useTexts();
  const configuration = useConfiguration();
  const [params] = useSearchParams();
  const [given, setGiven] = useState(() => fromAddress(params));
  const [isOpen, setOpen] = useState(false);
  const [isListed, setListed] = useState(false);
  const { owner, kept } = useConversations();
  const [id, setId] = useConversationId(workspace);
  const said = useSyncExternalStore(turns.subscribe, turns.get).filter((turn) => turn.workspace === workspace);
  const talk = useRef<HTMLDivElement>(null);
  const count = said.length;
  useFollowing(talk, said.some(({ state }) => state === "asking"));

  const ask = (query: string) => {
    const question = toQuestion(query, given);
    keep(owner, id, question);
    setId(id);
    if (!given.compare) void begin(question, workspace);
    else void beginTwo(question, inMode(question, given.compare), workspace);
  };
  const startAnew = () => {
    forget(workspace);
    setId(newId());
  };
  const open = (saved: SavedConversation) => {
    takeUp(saved.questions, workspace);
    setId(saved.id);
    setListed(false);
  };
  const mode = given.mode || configuration?.default_mode || texts.ask.modeServer;
  const isFiltered = toFilter(given) !== undefined;
  const isWide = said.some((turn) => turn.pair > 0);
  return (
    <div className={["page ask", isOpen ? "with-panel" : "", isWide ? "wide" : ""].join(" ")}>
      <div ref={talk} className="talk">
        <header className="title">
          <h1>{texts.ask.title}</h1>
          <div className="add">
            {count > 0 && <Button look="quiet" icon={MessageSquarePlus} label={texts.ask.newConversation} onPress={startAnew} />}
            {kept.length > 0 && <Button look="quiet" icon={History} label={texts.ask.conversations} onPress={() => setListed(true)} />}
            {isFiltered && (
              <Button look="quiet" icon={FilterX} onPress={() => setGiven({ ...given, ...EVERYTHING })}>
                {texts.ask.everything}
              </Button>
            )}
            <Button icon={SlidersHorizontal} aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
              {given.compare ? `${mode} | ${given.compare}` : mode}
            </Button>
          </div>
        </header>
        <StateNotice />
        {count === 0 && (
          <Empty icon={MessageCircleQuestion} title={texts.ask.empty}>
            <p>{texts.ask.emptyText}</p>
            <SampleQuestions onAsk={ask} />
            <ModelNotice />
          </Empty>
        )}
        {sideBySide(said).map((pair) => (
          <div key={pair[0]?.id} className={pair.length > 1 ? "pair" : ""}>
            {pair.map((turn) => (
              <TurnView key={turn.id} turn={turn} isCompared={pair.length > 1} />
            ))}
          </div>
        ))}
        <AskForm initial={params.get("q") ?? ""} onAsk={ask} />
      </div>
      {isListed && <ConversationsDialog owner={owner} onOpen={open} onClose={() => setListed(false)} />}
      {isOpen && <ParameterPanel given={given} onChange={setGiven} />}
    </div>
  );
}
